//! The configuration of `run`, given or found, and the settings that are recognised if it is invalid.

use std::path::{Path, PathBuf};

use clap::Args;
use hookbox::{
    Dialect,
    config::{self, Config, Reader},
};

use super::caller;
use crate::{exit::Exit, report, trust};

/// The configuration, and the event's dialect and name.
#[derive(Debug, Args)]
pub struct Source {
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude); `auto`: that of the client that calls
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,
    /// The event's name, when its JSON does not carry it
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Run of the configuration only what needs no trust: components without grants, as gates
    #[arg(long, requires = "config")]
    pub untrusted: bool,
}

impl Source {
    /// The path of the configuration.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        let found = || config::find(Path::new(""));
        self.config
            .clone()
            .or_else(found)
            .ok_or_else(|| Exit::Config.error("no configuration here: give --config FILE"))
    }

    /// The dialect that the options set. decisions.md#who-is-calling: "`--dialect` and `--event` override the
    /// payload".
    pub(super) fn given(&self) -> caller::Given {
        match self.dialect.as_deref() {
            Some(caller::AUTO) => caller::Given::Auto,
            Some(_) => caller::Given::Named,
            None if self.event.is_some() => caller::Given::Named,
            None => caller::Given::Nothing,
        }
    }

    /// The dialect in the options. `None` for `auto`.
    pub(super) fn named(&self) -> Option<&str> {
        self.dialect.as_deref().filter(|name| *name != caller::AUTO)
    }

    /// The dialect and `failClosed` for a configuration that cannot be used. The file may still contain readable
    /// settings.
    pub(super) fn hints(&self) -> (Option<&'static dyn Dialect>, bool) {
        let hints = self.path().map(|path| config::file_hints(&path)).unwrap_or_default();
        let dialect = self.named().map_or(hints.dialect, hookbox::dialect::by_name);
        (dialect.or_else(|| hookbox::dialect::by_name(config::DEFAULT_DIALECT)), hints.fail_closed)
    }

    /// Loads the configuration and prints its warnings. If the configuration was found, only trusted hooks may run. If
    /// it was given, all hooks may run, unless `--untrusted` is set. With `closed`, failures block regardless of the
    /// file.
    pub fn load(&self, path: &Path, closed: bool) -> anyhow::Result<Config> {
        let reader = self.named().into_iter().fold(Reader::new(), Reader::dialect);
        let loaded = reader.fail_closed(closed).file(path)?;
        report::warnings(&loaded);
        let mut config = loaded.config;
        if self.untrusted {
            trust::confine(&mut config);
        } else if self.config.is_none() {
            trust::hold(&mut config);
        }
        Ok(config)
    }
}

/// Returns true if an invalid command line still requires that failures block, by `--fail-closed` or by the
/// configuration that it names. Unknown options fail closed.
pub fn is_to_fail_closed(words: &[String]) -> bool {
    let [_, command, rest @ ..] = words else { return false };
    let mut named = rest.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix("--config")? {
        "" => rest.get(at + 1).map(String::as_str),
        given => given.strip_prefix('='),
    });
    command == "run"
        && (rest.iter().any(|word| word == "--fail-closed")
            || named.any(|path| config::file_hints(Path::new(path)).fail_closed))
}
