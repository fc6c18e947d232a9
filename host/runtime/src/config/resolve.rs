//! Turns the types of the file into hooks.

pub(super) mod authority;
mod component;
mod entry;
pub(super) mod events;
mod groups;
mod handler;
mod http;
mod name;
mod named;
mod traps;

use std::{collections::BTreeMap, path::PathBuf};

use hookbox_protocol::{
    Dialect, FailurePolicy,
    json::{Object, token},
    matcher::Budget,
};
use hookbox_sandbox::Limits;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    CAN_USE_TOOL, Hook, HostSettings, Mode,
    diagnostic::Finding,
    file::{Checked, File},
    options::ReadOptions,
    process::Stages,
};

/// The state of resolving a file.
pub(super) struct Resolver {
    pub(super) dialect: &'static dyn Dialect,
    /// The folder that relative paths are relative to.
    pub(super) base: PathBuf,
    /// The types of handlers that the embedder adds.
    handlers: Vec<String>,
    pub(super) limits: Limits,
    /// The limits that the file sets: the JSON pointer of each by its key.
    limits_given: BTreeMap<String, String>,
    mode: Mode,
    pub(super) fail_closed: bool,
    pub(super) defaults: Defaults,
    pub(super) enabled: bool,
    pub(super) max_concurrent: Option<usize>,
    pub(super) hooks: Vec<Hook>,
    /// The memory budget of compiled matchers.
    pub(super) patterns: Budget,
    pub(super) found: Vec<Finding>,
    /// Event names that look misspelt, each with the index of its finding.
    misspelt: Vec<(String, usize)>,
    /// Event names that no client is known to send.
    unheard: Vec<String>,
    /// Errors about parts that could not be read. Normally the validator has reported them already.
    pub(super) unread: Vec<Finding>,
}

/// The defaults of handlers.
#[derive(Default)]
pub(super) struct Defaults {
    timeout: Option<f64>,
    on_failure: Option<FailurePolicy>,
    on_timeout: Option<FailurePolicy>,
    stages: Stages,
}

impl Resolver {
    pub(super) fn new(dialect: &'static dyn Dialect, base: PathBuf, options: &ReadOptions) -> Self {
        Self {
            dialect,
            base,
            handlers: options.handlers.clone(),
            limits: Limits::default(),
            limits_given: BTreeMap::new(),
            mode: Mode::default(),
            fail_closed: options.fail_closed,
            defaults: Defaults::default(),
            enabled: true,
            max_concurrent: None,
            hooks: Vec::new(),
            patterns: options.matcher_bytes.map_or_else(Budget::default, Budget::with),
            found: Vec::new(),
            misspelt: Vec::new(),
            unheard: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Resolves the whole file and returns the host's settings.
    pub(super) fn file<H: DeserializeOwned>(
        &mut self,
        value: Value,
        hooks: fn(&mut Self, H),
    ) -> serde_json::Result<HostSettings> {
        let limits = value.get("limits").and_then(Value::as_object);
        self.limits_given = given(limits, "/limits");
        let file: File<H> = serde_json::from_value(value)?;
        // Read the other members before `hooks`, because they contain its defaults.
        self.limits = self.take(file.limits, "/limits").unwrap_or_default();
        self.mode = self.take(file.mode, "/mode").unwrap_or_default();
        self.fail_closed |= self.take(file.fail_closed, "/failClosed") == Some(true);
        let off = self.take(file.hooks_config, "/hooksConfig").is_some_and(|config| config.enabled == Some(false));
        self.enabled = self.take(file.disable_all_hooks, "/disableAllHooks") != Some(true) && !off;
        if let Some(written) = self.take(file.hooks, "/hooks") {
            hooks(self, written);
        }
        let pointer = format!("/{CAN_USE_TOOL}");
        if let Some(entry) = self.take(file.can_use_tool, &pointer) {
            self.can_use_tool(pointer, entry);
        }
        let mut settings = self.take(file.host, "/host").unwrap_or_default();
        if let Some(path) = &mut settings.state_file {
            *path = self.base.join(&*path).to_string_lossy().into_owned();
        }
        Ok(settings)
    }

    /// A part of the file. `None` if it could not be read.
    fn take<T>(&mut self, part: Checked<T>, pointer: &str) -> Option<T> {
        match part.0? {
            Ok(part) => Some(part),
            Err(error) => {
                self.unread.push(Finding::error(pointer, format!("not understood: {error}")));
                None
            }
        }
    }

    /// The items of an array that could be read, with their pointers.
    fn items<T>(&mut self, parts: Vec<Checked<T>>, pointer: &str) -> Vec<(String, T)> {
        let pointers = (0..).map(|index: usize| format!("{pointer}/{index}"));
        pointers
            .zip(parts)
            .filter_map(|(pointer, part)| self.take(part, &pointer).map(|part| (pointer, part)))
            .collect()
    }
}

/// The JSON pointer of each key of an object.
fn given(object: Option<&Object>, pointer: &str) -> BTreeMap<String, String> {
    let keys = object.into_iter().flat_map(Object::keys);
    keys.map(|key| (key.clone(), format!("{pointer}/{}", token(key)))).collect()
}
