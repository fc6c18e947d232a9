//! Edits a client's settings as text. Comments, order and formatting are preserved.

mod entries;
mod group;
pub mod jsonc;
mod list;
mod transfer;

use std::path::Path;

use jsonc_parser::cst::{CstArray, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

pub use self::{
    group::Position,
    list::{Found, PlacedHandler},
    transfer::Group,
};
use super::{Client, Form};
use crate::exit::Exit;

/// The settings of a client, open for editing.
pub struct Settings<'a> {
    client: &'a Client,
    file: &'a Path,
    root: CstRootNode,
    /// The byte order mark with which editors on Windows start a file.
    mark: &'static str,
}

impl<'a> Settings<'a> {
    /// Parses the text. `None`: the file does not exist yet.
    ///
    /// # Errors
    /// The text is not JSON (with comments and trailing commas), or contains a duplicate key. Different parsers would
    /// use different values of such a key.
    pub fn read(client: &'a Client, file: &'a Path, text: Option<&str>) -> anyhow::Result<Self> {
        let text = text.unwrap_or("{}\n");
        let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
        let root = CstRootNode::parse(text, &jsonc::options()).map_err(|error| wrong(file, &error.to_string()))?;
        let settings = Self { client, file, root, mark };
        for object in [settings.root.object_value(), settings.hooks()?].into_iter().flatten() {
            let names: Vec<String> = object.properties().iter().filter_map(CstObjectProp::decoded_name).collect();
            if let Some(twice) = names.iter().find(|name| names.iter().filter(|other| other == name).count() > 1) {
                return Err(wrong(file, &format!("duplicate key `{twice}`")));
            }
        }
        Ok(settings)
    }

    /// The current text.
    pub fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    /// Returns true if the settings contain nothing but the `version` that hookbox adds to new files.
    pub fn is_empty(&self) -> bool {
        let Some(Value::Object(mut object)) = self.root.to_serde_value() else { return self.root.value().is_none() };
        object.remove("version");
        object.is_empty()
    }

    /// The settings as a JSON value.
    pub fn value(&self) -> Value {
        self.root.to_serde_value().unwrap_or_default()
    }

    /// Sets an option beside the events in `hooks`, such as blade's switches.
    pub fn switch(&self, name: &str, value: &Value) -> anyhow::Result<()> {
        if let Some(hooks) = self.hooks()? {
            jsonc::set(&hooks, name, value);
        }
        Ok(())
    }

    fn uses_processes(&self) -> bool {
        self.client.form == Form::Process
    }

    fn hooks(&self) -> anyhow::Result<Option<CstObject>> {
        let root = match self.root.value() {
            None => return Ok(None),
            Some(root) => root.as_object().ok_or_else(|| self.is_not("it", "an object"))?,
        };
        let Some(hooks) = root.get("hooks") else { return Ok(None) };
        let hooks = hooks.value().and_then(|hooks| hooks.as_object());
        hooks.map(Some).ok_or_else(|| self.is_not("`hooks`", "an object"))
    }

    /// The object that contains the entries: `hooks`, or `hooks.processes` for processes.
    fn container(&self) -> anyhow::Result<Option<CstObject>> {
        let hooks = self.hooks()?;
        if !self.uses_processes() {
            return Ok(hooks);
        }
        let Some(processes) = hooks.and_then(|hooks| hooks.get("processes")) else { return Ok(None) };
        let processes = processes.value().and_then(|processes| processes.as_object());
        processes.map(Some).ok_or_else(|| self.is_not("`hooks.processes`", "an object"))
    }

    /// The processes with their names. Empty unless the client runs processes.
    fn processes(&self) -> anyhow::Result<Vec<(String, CstObjectProp)>> {
        if !self.uses_processes() {
            return Ok(Vec::new());
        }
        let properties = self.container()?.into_iter().flat_map(|processes| processes.properties());
        Ok(properties.filter_map(|property| Some((property.decoded_name()?, property))).collect())
    }

    /// The groups, or handlers, of every event. Empty if the client runs processes.
    fn events(&self) -> anyhow::Result<Vec<(String, CstArray)>> {
        let mut events = Vec::new();
        if self.uses_processes() {
            return Ok(events);
        }
        for property in self.container()?.into_iter().flat_map(|hooks| hooks.properties()) {
            let (Some(name), Some(value)) = (property.decoded_name(), property.value()) else { continue };
            match value.as_array() {
                Some(array) => events.push((name, array)),
                // Blade has other settings beside its events.
                None if value.as_object().is_none() && self.client.name == "blade" => {}
                None => return Err(self.is_not(&format!("`hooks.{name}`"), "an array")),
            }
        }
        Ok(events)
    }

    fn root_or_new(&self) -> anyhow::Result<CstObject> {
        self.root.object_value_or_create().ok_or_else(|| self.is_not("it", "an object"))
    }

    fn hooks_or_new(&self) -> anyhow::Result<CstObject> {
        self.root_or_new()?.object_value_or_create("hooks").ok_or_else(|| self.is_not("`hooks`", "an object"))
    }

    /// Appends a group to an event, or a process under a new name.
    fn append(&self, hooks: &CstObject, name: &str, value: &Value) -> anyhow::Result<()> {
        if !self.uses_processes() {
            let array = hooks.array_value_or_create(name);
            let array = array.ok_or_else(|| self.is_not(&format!("`hooks.{name}`"), "an array"))?;
            array.append(jsonc::input(value));
            return Ok(());
        }
        let processes = hooks.object_value_or_create("processes");
        let processes = processes.ok_or_else(|| self.is_not("`hooks.processes`", "an object"))?;
        if processes.get(name).is_some() {
            return Err(wrong(self.file, &format!("`hooks.processes.{name}` exists already, and is another hook")));
        }
        processes.append(name, jsonc::input(value));
        Ok(())
    }

    /// Removes an event, or a process, with its value.
    fn remove_property(&self, name: &str) -> anyhow::Result<()> {
        self.container()?.and_then(|container| container.get(name)).into_iter().for_each(CstObjectProp::remove);
        Ok(())
    }

    fn remove_hooks(&self) {
        let hooks = self.root.object_value().and_then(|root| root.get("hooks"));
        hooks.into_iter().for_each(CstObjectProp::remove);
    }

    /// The error for a part of the settings of another type than expected.
    fn is_not(&self, part: &str, expected: &str) -> anyhow::Error {
        wrong(self.file, &format!("{part} is not {expected}"))
    }
}

fn wrong(file: &Path, why: &str) -> anyhow::Error {
    Exit::Config.error(format!("{}: {why}; the file was not changed", file.display()))
}
