//! The registry client with this user's settings: `registries.json` in the user's configuration folder, and Docker's
//! credentials.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::Context;
use hookbox::{
    artifact::{REGISTRIES_FILE, Reference, Revoked},
    capability::http::ReqwestClient,
    folders, json,
};
use hookbox_registry::{
    DockerCredentials, HostOptions, Hosts, PolicyError, Publisher, Publishers, Registry, RegistryError, Trust,
};
use serde::Deserialize;

use crate::{exit::Exit, user_file};

/// The user's settings for registries.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Hosts in private networks or without TLS.
    pub registries: BTreeMap<String, HostOptions>,
    /// Policies of publishers; the first that names a repository holds for it.
    publishers: Vec<Publisher>,
    /// Digests and publishers that are refused although they are signed.
    revoked: Revoked,
}

/// The path of the settings.
pub fn file() -> Option<PathBuf> {
    Some(folders::config()?.join(REGISTRIES_FILE))
}

impl Settings {
    /// Reads the user's settings. Without a file, they are empty.
    pub fn load() -> anyhow::Result<Self> {
        let Some(file) = file() else { return Ok(Self::default()) };
        let Some(bytes) = user_file::read(&file)? else { return Ok(Self::default()) };
        let read = || Ok::<_, anyhow::Error>(serde_json::from_value(json::parse(&bytes)?)?);
        read().with_context(|| file.display().to_string()).map_err(|error| Exit::Config.error(format!("{error:#}")))
    }

    /// The demands on an artifact before it is locked.
    pub fn trust(&self) -> anyhow::Result<Trust> {
        let file = file().unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new("."));
        let policies = self.publishers.iter().map(|publisher| publisher.policy(folder)).collect::<Result<Vec<_>, _>>();
        let policies = policies.map_err(|error| Exit::Config.error(format!("{}: {error}", file.display())))?;
        Ok(Trust { publishers: Publishers::new(policies), revoked: self.revoked.clone() })
    }

    /// The hosts that may be reached.
    pub fn hosts(&self) -> Hosts {
        self.registries.iter().fold(Hosts::public(), |hosts, (host, terms)| hosts.with(host, *terms))
    }
}

/// A client for references that a file names: private hosts have to be in the user's settings. With the user's policy.
pub fn of_files() -> anyhow::Result<(Registry, Trust)> {
    let settings = Settings::load()?;
    Ok((client(settings.hosts()), settings.trust()?))
}

/// A client for a reference on the command line, whose host the user vouches for. With the user's policy.
pub fn named(reference: &Reference) -> anyhow::Result<(Registry, Trust)> {
    let settings = Settings::load()?;
    Ok((client(settings.hosts().vouched(reference.host())), settings.trust()?))
}

fn client(hosts: Hosts) -> Registry {
    Registry::new(ReqwestClient::default(), hosts, DockerCredentials::of_user())
}

/// Parses a reference on the command line.
pub fn reference(text: &str) -> anyhow::Result<Reference> {
    Reference::parse(text).map_err(|error| Exit::Usage.error(error.to_string()))
}

/// An error of a policy on its way out of a command, with its exit code.
pub fn refused(error: PolicyError) -> anyhow::Error {
    match error {
        PolicyError::Registry(error) => failed(error),
        PolicyError::NoKey(_) | PolicyError::Names(_) | PolicyError::Key(..) | PolicyError::Identity(..) => {
            Exit::Config.error(error.to_string())
        }
        error => {
            let file = file().unwrap_or_default();
            let file = file.display();
            let help = match &error {
                PolicyError::Unsigned(_) => {
                    format!("ask its publisher for a signature, or change the policy in {file}")
                }
                PolicyError::Wrong { .. } => {
                    format!("compare the keys and identities in {file} with those that its publisher names")
                }
                PolicyError::Revoked { .. } => format!("{file} revokes it: use another version"),
                _ => return Exit::Unsigned.error(error.to_string()),
            };
            Exit::Unsigned.advised(error.to_string(), &[&help])
        }
    }
}

/// An error of a registry on its way out of a command, with its exit code.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub fn failed(error: RegistryError) -> anyhow::Error {
    let exit = match &error {
        RegistryError::Reference(_) => Exit::Usage,
        error if error.is_forgery() => Exit::Forged,
        _ => Exit::Registry,
    };
    match error.help() {
        Some(help) => exit.advised(error.to_string(), &[&help]),
        None => exit.error(error.to_string()),
    }
}
