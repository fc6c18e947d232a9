//! The client of registries as this user has set it up: `registries.json` in the user's configuration folder, and Docker's
//! credentials.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Context;
use hookbox::{artifact::Reference, capability::http::ReqwestClient, folders, json};
use hookbox_registry::{DockerCredentials, Hosts, Registry, RegistryError, Terms};
use serde::Deserialize;

use crate::{exit::Exit, user_file};

/// Settings of a user about registries.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Hosts in private networks and without TLS.
    pub registries: BTreeMap<String, Terms>,
}

/// The place of the settings.
pub fn file() -> Option<PathBuf> {
    Some(folders::config()?.join("registries.json"))
}

impl Settings {
    /// Reads the user's settings; those of a user without any are empty.
    pub fn load() -> anyhow::Result<Self> {
        let Some(file) = file() else { return Ok(Self::default()) };
        let Some(bytes) = user_file::read(&file)? else { return Ok(Self::default()) };
        let read = || Ok::<_, anyhow::Error>(serde_json::from_value(json::parse(&bytes)?)?);
        read().with_context(|| file.display().to_string()).map_err(|error| Exit::Config.error(format!("{error:#}")))
    }

    /// The hosts that may be reached.
    pub fn hosts(&self) -> Hosts {
        self.registries.iter().fold(Hosts::public(), |hosts, (host, terms)| hosts.with(host, *terms))
    }
}

/// A client for references that a file names: private hosts have to be in the user's settings.
pub fn of_files() -> anyhow::Result<Registry> {
    Ok(client(Settings::load()?.hosts()))
}

/// A client for a reference on the command line, whose host the user vouches for.
pub fn named(reference: &Reference) -> anyhow::Result<Registry> {
    Ok(client(Settings::load()?.hosts().vouched(reference.host())))
}

fn client(hosts: Hosts) -> Registry {
    Registry::new(ReqwestClient::default(), hosts, DockerCredentials::of_user())
}

/// A reference of the command line.
pub fn reference(text: &str) -> anyhow::Result<Reference> {
    Reference::parse(text).map_err(|error| Exit::Usage.error(error.to_string()))
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
