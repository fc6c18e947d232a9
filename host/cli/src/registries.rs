//! The registry client with this user's settings: `registries.json` in the user's configuration folder, and Docker's
//! credentials.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Context;
use hookbox::{artifact::Reference, capability::http::ReqwestClient, folders, json};
use hookbox_registry::{DockerCredentials, Hosts, Registry, RegistryError, Terms};
use serde::Deserialize;

use crate::{exit::Exit, user_file};

/// The user's settings for registries.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Hosts in private networks or without TLS.
    pub registries: BTreeMap<String, Terms>,
}

/// The path of the settings.
pub fn file() -> Option<PathBuf> {
    Some(folders::config()?.join("registries.json"))
}

impl Settings {
    /// Reads the user's settings. Without a file, they are empty.
    pub fn load() -> anyhow::Result<Self> {
        let Some(file) = file() else { return Ok(Self::default()) };
        let Some(bytes) = user_file::read(&file)? else { return Ok(Self::default()) };
        let read = || Ok::<_, anyhow::Error>(serde_json::from_value(json::parse(&bytes)?)?);
        read().with_context(|| file.display().to_string()).map_err(|error| Exit::Config.error(format!("{error:#}")))
    }

    /// The hosts that may be contacted.
    pub fn hosts(&self) -> Hosts {
        self.registries.iter().fold(Hosts::public(), |hosts, (host, terms)| hosts.with(host, *terms))
    }
}

/// A client for references in files. Private hosts must be in the user's settings.
pub fn of_files() -> anyhow::Result<Registry> {
    Ok(client(Settings::load()?.hosts()))
}

/// A client for a reference on the command line. Naming a host there means that the user trusts it.
pub fn named(reference: &Reference) -> anyhow::Result<Registry> {
    Ok(client(Settings::load()?.hosts().vouched(reference.host())))
}

fn client(hosts: Hosts) -> Registry {
    Registry::new(ReqwestClient::default(), hosts, DockerCredentials::of_user())
}

/// Parses a reference on the command line.
pub fn reference(text: &str) -> anyhow::Result<Reference> {
    Reference::parse(text).map_err(|error| Exit::Usage.error(error.to_string()))
}

/// An error of a registry with its exit status.
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
