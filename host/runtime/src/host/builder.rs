//! Building a [`Host`].

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hookbox_protocol::{FailurePolicy, matcher::Matcher};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Host, Slot, load::Resources};
use crate::{
    config::{self, Config, Diagnostic},
    error::BuildError,
    handler::{Callback, SharedHandler},
};

/// Builds a [`Host`]. Needs a configuration; everything else has a default.
#[derive(Default)]
#[must_use]
pub struct HostBuilder {
    config: Option<Config>,
    warnings: Vec<Diagnostic>,
    callbacks: Vec<(String, Option<String>, SharedHandler)>,
    lazy: bool,
    resources: Resources,
}

impl HostBuilder {
    /// Reads the configuration from a file.
    ///
    /// # Errors
    /// [`BuildError::Config`] with everything that is wrong with it.
    pub fn config_file(self, path: impl AsRef<Path>) -> Result<Self, BuildError> {
        let loaded = Config::load(path.as_ref(), None)?;
        Ok(Self { warnings: loaded.warnings, ..self.config(loaded.config) })
    }

    /// Takes a configuration that is already loaded.
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Adds a callback for one event, after the hooks of the configuration. `event` is the event's wire name
    /// (`canUseTool` for the permission callback), `matcher` as in the configuration. The callback takes the event's
    /// JSON and returns the dialect's output JSON.
    pub fn callback<F, R>(mut self, event: &str, matcher: Option<&str>, callback: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let handler: SharedHandler = Arc::new(Callback::new(callback));
        self.callbacks.push((event.to_owned(), matcher.map(str::to_owned), handler));
        self
    }

    /// Loads hooks when an event first needs them, for processes that judge one event and end.
    pub fn lazy(mut self) -> Self {
        self.lazy = true;
        self
    }

    /// Where precompiled components are kept; the user's cache folder unless given.
    pub fn cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.resources.cache_dir = Some(dir.into());
        self
    }

    /// Compiles components in a process of this program, which is ended when it takes more than the configuration's
    /// `compile`: without it, a component made for that can exhaust the host. The program is `hookbox`, or one that
    /// begins with [`hookbox_sandbox::compiler::serve_if_asked`], for example the host's own.
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.resources.compiler = Some(program.into());
        self
    }

    /// Builds the host and, unless [`HostBuilder::lazy`], loads every hook.
    ///
    /// # Errors
    /// [`BuildError`]
    pub async fn build(self) -> Result<Host, BuildError> {
        let config = self.config.ok_or(BuildError::NoConfig)?;
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
        let mut slots: Vec<Slot> =
            config.hooks.iter().map(|hook| Slot { hook: hook.clone(), handler: OnceCell::new() }).collect();
        for (number, (event, matcher, handler)) in self.callbacks.into_iter().enumerate() {
            let hook = callback_hook(&config, number, event, matcher.as_deref())?;
            slots.push(Slot { hook, handler: OnceCell::new_with(Some(handler)) });
        }
        let host = Host { config, slots, engine: OnceCell::new(), resources: self.resources };
        if !self.lazy {
            for slot in &host.slots {
                host.handler(slot).await?;
            }
        }
        Ok(host)
    }
}

/// The configuration entry a callback would have had.
fn callback_hook(
    config: &Config,
    number: usize,
    event: String,
    matcher: Option<&str>,
) -> Result<config::Hook, BuildError> {
    let spec = config.dialect.spec_by_name(&event).unwrap_or(config.dialect.other_spec());
    let compiled = match config.dialect.match_style_of(spec) {
        Some(style) => Matcher::compile(style, matcher).map_err(|error| BuildError::Matcher(event.clone(), error))?,
        None => Matcher::Everything,
    };
    Ok(config::Hook {
        name: format!("callback {}", number + 1),
        pointer: String::new(),
        events: vec![event],
        matcher: compiled,
        matcher_text: matcher.map(str::to_owned),
        observe_only: false,
        sequential: false,
        timeout: DEFAULT_TIMEOUT,
        on_failure: None::<FailurePolicy>,
        on_timeout: None,
        handler: config::Handler::Callback,
    })
}

/// claude.md#configuration: "`timeout` | number | `60` | seconds"; the other dialects take no longer.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
