//! `hookbox.lock`: pins each reference in the configurations of its folder to a component. See `docs/lock.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
    path::{Path, PathBuf},
};

use hookbox_protocol::json;
use hookbox_sandbox::{beneath::Beneath, private::open_regular, sha256};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    Change, Power, Reference,
    power::{changes, version},
    reference::hex_of,
};
use crate::config::Config;

/// The name of the file.
pub const LOCK_FILE: &str = "hookbox.lock";

/// The version of the file format.
const VERSION: u32 = 1;
/// The largest lock file, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// The line at the top of the file.
const ABOUT: &str =
    "Written by `hookbox lock` for the configurations beside it. Review its changes like code: docs/lock.md.";

/// A lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// A comment for readers.
    pub about: String,
    /// The version of the file format: 1.
    pub version: u32,
    /// The digest of the references in each configuration, by its file name. See [`declarations`].
    pub declarations: BTreeMap<String, String>,
    /// The component of each reference, by the reference as written.
    pub components: BTreeMap<String, Locked>,
}

/// An entry of a lock: one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The component's digest, as `sha256:…`.
    pub digest: String,
    /// The digest of the manifest that contains the component.
    pub manifest: String,
    /// The size of the component in bytes.
    pub size: u64,
    /// The version that the publisher gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The events that it handles: [`Power::exports`].
    pub exports: BTreeSet<String>,
    /// The interfaces that it imports: [`Power::imports`].
    pub imports: BTreeSet<String>,
    /// The publisher whose signature was verified, such as `key:sha256:…`. `None` without a verified signature.
    pub publisher: Option<String>,
    /// True if a signature of the publisher was verified.
    pub attested: bool,
    /// The registry and the repository of the component.
    pub source: String,
    /// The UTC time when the reference was resolved, such as `2026-11-24T01:02:03Z`.
    pub resolved: String,
    /// A note of the reviewer, which `hookbox` preserves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The error why a lock cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LockError {
    /// The lock does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The lock cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a valid lock of this version.
    #[error("{} is not a valid lock: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The error.
        why: String,
    },
    /// The references in a configuration changed since the lock was written.
    #[error("{} is stale: the references in {config} have changed since it was written", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
        /// The name of the configuration.
        config: String,
    },
}

impl Lock {
    /// Creates an empty lock.
    pub fn new() -> Self {
        Self { about: ABOUT.to_owned(), version: VERSION, declarations: BTreeMap::new(), components: BTreeMap::new() }
    }

    /// Reads a lock file. With `within`, it must be below this folder.
    ///
    /// # Errors
    /// [`LockError::Missing`], [`LockError::Read`], or [`LockError::Invalid`], also for duplicate and unknown keys.
    /// Links are followed as far as in the configuration's own path, because the lock is beside it.
    pub fn read(path: &Path, within: Option<&Beneath>) -> Result<Self, LockError> {
        let open = || match within {
            Some(within) => within.file(path),
            None => open_regular(path),
        };
        let read = || {
            let mut bytes = Vec::new();
            open()?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => LockError::Missing(path.to_owned()),
            _ => LockError::Read { path: path.to_owned(), error },
        })?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(LockError::Invalid {
                path: path.to_owned(),
                why: format!("it is larger than {} MiB", MAX_BYTES >> 20),
            });
        }
        Self::parse(&bytes).map_err(|why| LockError::Invalid { path: path.to_owned(), why })
    }

    /// Parses the text of a lock.
    ///
    /// # Errors
    /// A description of the error.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value = json::parse(bytes).map_err(|error| error.to_string())?;
        let lock: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if lock.version != VERSION {
            return Err(format!("it is of version {}, and this hookbox reads version {VERSION}", lock.version));
        }
        for (name, locked) in &lock.components {
            let reference = Reference::parse(name).map_err(|error| error.to_string())?;
            for digest in [&locked.digest, &locked.manifest] {
                if hex_of(digest).is_none() {
                    return Err(format!("`{name}`: `{}` is not a digest", json::shorten(digest, 80)));
                }
            }
            if reference.digest().is_some_and(|digest| digest != locked.manifest) {
                return Err(format!("`{name}`: the reference has another digest than `manifest`"));
            }
            if locked.attested != locked.publisher.is_some() {
                return Err(format!("`{name}`: `attested` says something else than `publisher`"));
            }
        }
        Ok(lock)
    }

    /// Formats the lock: members in a fixed order, one per line.
    pub fn text(&self) -> String {
        // This cannot fail: all keys are text, and no implementation returns an error.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Checks that the lock was written for the current references of a configuration.
    ///
    /// # Errors
    /// [`LockError::Stale`].
    pub fn check(&self, config: &Config) -> Result<(), LockError> {
        let name = file_name(config);
        if self.declarations.get(&name).is_some_and(|digest| *digest == declarations(config)) {
            return Ok(());
        }
        Err(LockError::Stale { path: lock_file(config), config: name })
    }

    /// Records the current references of a configuration.
    pub fn declare(&mut self, config: &Config) {
        self.declarations.insert(file_name(config), declarations(config));
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

impl Locked {
    /// The component's digest in hexadecimal, without prefix.
    pub fn hex(&self) -> &str {
        hex_of(&self.digest).unwrap_or_default()
    }

    /// The component's power according to the lock.
    pub fn power(&self) -> Power {
        Power { exports: self.exports.clone(), imports: self.imports.clone() }
    }

    /// The differences to a later entry.
    pub fn changes(&self, after: &Self) -> Vec<Change> {
        let mut found = changes(&self.power(), &after.power());
        if self.publisher != after.publisher {
            found.push(Change::Publisher(self.publisher.clone(), after.publisher.clone()));
        }
        if self.attested && !after.attested {
            found.push(Change::AttestationLost);
        }
        if self.size != after.size {
            found.push(Change::Size(self.size, after.size));
        }
        found.extend(version(self.version.as_deref(), after.version.as_deref()));
        found
    }
}

/// The digest of the references in a configuration: sorted, without duplicates, joined by newlines.
pub fn declarations(config: &Config) -> String {
    let lines: Vec<String> = config.references.iter().map(ToString::to_string).collect();
    format!("sha256:{}", sha256(lines.join("\n")))
}

/// The path of a configuration's lock, which is in the same folder.
pub fn lock_file(config: &Config) -> PathBuf {
    config.file.with_file_name(LOCK_FILE)
}

fn file_name(config: &Config) -> String {
    config.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
