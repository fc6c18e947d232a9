//! Edits a client's settings as text. Comments, order and formatting are preserved.

use std::path::Path;

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::{Map, Value, json};

use super::{
    Client, Form,
    entry::{HookboxCommand, ours},
};
use crate::exit::Exit;

/// The settings of a client, open for editing.
pub struct Settings<'a> {
    client: &'a Client,
    file: &'a Path,
    root: CstRootNode,
    /// The byte order mark with which editors on Windows start a file.
    mark: &'static str,
}

/// A hookbox entry in a client's settings.
#[derive(Debug)]
pub struct Found {
    /// The event, or the name of the process.
    pub event: String,
    /// The index of its group, and of the handler in the group.
    pub place: [usize; 2],
    /// The matcher of its group.
    pub matcher: Option<String>,
    /// The parsed command line.
    pub ours: HookboxCommand,
    /// The whole handler.
    pub handler: Value,
}

/// A handler and its place.
#[derive(Debug)]
pub struct PlacedHandler {
    /// The event.
    pub event: String,
    /// The index of its group, and of the handler in the group.
    pub place: [usize; 2],
    /// True if it runs hookbox.
    pub is_ours: bool,
    /// Its group, reduced to this handler.
    pub what: Value,
}

/// The version that `PicoClaw` 0.2.6 treats as current. Later versions migrate it and keep all hooks.
const PICOCLAW_VERSION: u64 = 2;

/// A group of handlers that do not run hookbox, with its event; or a process, with its name.
pub type Group = (String, Value);

impl<'a> Settings<'a> {
    /// Parses the text. `None`: the file does not exist yet.
    ///
    /// # Errors
    /// The text is not JSON (with comments and trailing commas), or contains a duplicate key. Different parsers would
    /// use different values of such a key.
    pub fn read(client: &'a Client, file: &'a Path, text: Option<&str>) -> anyhow::Result<Self> {
        let text = text.unwrap_or("{}\n");
        let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
        let root = CstRootNode::parse(text, &options()).map_err(|error| wrong(file, &error.to_string()))?;
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

    fn hooks(&self) -> anyhow::Result<Option<CstObject>> {
        let root = match self.root.value() {
            None => return Ok(None),
            Some(root) => root.as_object().ok_or_else(|| wrong(self.file, "it is not an object"))?,
        };
        let Some(hooks) = root.get("hooks") else { return Ok(None) };
        let hooks = hooks.value().and_then(|hooks| hooks.as_object());
        hooks.map(Some).ok_or_else(|| wrong(self.file, "`hooks` is not an object"))
    }

    /// The object that contains the entries: `hooks`, or `hooks.processes` for processes.
    fn container(&self) -> anyhow::Result<Option<CstObject>> {
        let hooks = self.hooks()?;
        if self.client.form != Form::Process {
            return Ok(hooks);
        }
        let Some(processes) = hooks.and_then(|hooks| hooks.get("processes")) else { return Ok(None) };
        let processes = processes.value().and_then(|processes| processes.as_object());
        processes.map(Some).ok_or_else(|| wrong(self.file, "`hooks.processes` is not an object"))
    }

    /// The groups, or handlers, of every event.
    fn events(&self) -> anyhow::Result<Vec<(String, CstArray)>> {
        let mut events = Vec::new();
        for property in self.container()?.into_iter().flat_map(|hooks| hooks.properties()) {
            let (Some(name), Some(value)) = (property.decoded_name(), property.value()) else { continue };
            match value.as_array() {
                Some(array) => events.push((name, array)),
                // Blade has other settings beside its events.
                None if value.as_object().is_none() && self.client.name == "blade" => {}
                None => return Err(wrong(self.file, &format!("`hooks.{name}` is not an array"))),
            }
        }
        Ok(events)
    }

    /// All hookbox entries.
    pub fn found(&self) -> anyhow::Result<Vec<Found>> {
        let mut found = Vec::new();
        if self.client.form == Form::Process {
            for property in self.container()?.into_iter().flat_map(|processes| processes.properties()) {
                let Some(handler) = property.value().and_then(|value| value.to_serde_value()) else { continue };
                if let Some(ours) = ours(&handler) {
                    let event = property.decoded_name().unwrap_or_default();
                    found.push(Found { event, place: [0, 0], matcher: None, ours, handler });
                }
            }
            return Ok(found);
        }
        for (event, array) in self.events()? {
            for (group, element) in array.elements().into_iter().enumerate() {
                let value = element.to_serde_value().unwrap_or_default();
                let matcher = value.get("matcher").and_then(Value::as_str).map(str::to_owned);
                for (index, handler) in handlers(&value).into_iter().enumerate() {
                    if let Some(ours) = ours(&handler) {
                        let (event, matcher) = (event.clone(), matcher.clone());
                        found.push(Found { event, place: [group, index], matcher, ours, handler });
                    }
                }
            }
        }
        Ok(found)
    }

    /// Replaces the hookbox entries that `same` selects by these entries. Entries that are already as wanted are not
    /// rewritten.
    pub fn put(&self, entries: &[(String, Value)], same: impl Fn(&HookboxCommand) -> bool) -> anyhow::Result<()> {
        let found = self.found()?;
        let mut wanted: Vec<&(String, Value)> = entries.iter().collect();
        let mut stale = Vec::new();
        for found in found.iter().filter(|found| same(&found.ours)) {
            let as_wanted = |(event, entry): &&(String, Value)| {
                let plain = found.matcher.is_none() && handlers(entry) == [found.handler.clone()];
                *event == found.event && (plain || self.client.form == Form::Process && *entry == found.handler)
            };
            match wanted.iter().position(as_wanted) {
                Some(place) => drop(wanted.remove(place)),
                None => stale.push((found.event.clone(), found.place)),
            }
        }
        // Replaced in place, because clients identify approved hooks by their place.
        if self.client.form != Form::Process {
            for (name, array) in self.events()? {
                stale.retain(|(event, place)| {
                    let is_same = |(wanted, _): &&(String, Value)| wanted == event && *event == name;
                    let Some(at) = wanted.iter().position(is_same) else { return true };
                    let Some((_, entry)) = wanted.get(at) else { return true };
                    let replaced = replace(&array, *place, entry);
                    if replaced {
                        wanted.remove(at);
                    }
                    !replaced
                });
            }
        }
        self.strip(|found| stale.iter().any(|(event, place)| *event == found.event && *place == found.place), false)?;
        // The array of an event that has no entry any more.
        let is_emptied = |event: &str| stale.iter().any(|(stale, _)| stale == event);
        let emptied = if self.client.form == Form::Process { Vec::new() } else { self.events()? };
        for (event, array) in emptied.into_iter().filter(|(event, _)| is_emptied(event)) {
            if array.elements().is_empty() && !wanted.iter().any(|(wanted, _)| *wanted == event) {
                self.container()?.and_then(|hooks| hooks.get(&event)).into_iter().for_each(CstObjectProp::remove);
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let root = self.root.object_value_or_create().ok_or_else(|| wrong(self.file, "it is not an object"))?;
        if self.client.form == Form::Flat && root.get("version").is_none() {
            root.insert(0, "version", json_input(&json!(1)));
        }
        if self.client.form == Form::Process && self.value().get("version").and_then(Value::as_u64).unwrap_or(0) == 0 {
            self.versioned(&root)?;
        }
        let hooks = root.object_value_or_create("hooks").ok_or_else(|| wrong(self.file, "`hooks` is not an object"))?;
        if self.client.form == Form::Process {
            set(&hooks, "enabled", &json!(true));
            let no_object = || wrong(self.file, "`hooks.processes` is not an object");
            let processes = hooks.object_value_or_create("processes").ok_or_else(no_object)?;
            for (name, entry) in wanted {
                if processes.get(name).is_some() {
                    return Err(wrong(
                        self.file,
                        &format!("`hooks.processes.{name}` exists already, and runs something else"),
                    ));
                }
                processes.append(name, json_input(entry));
            }
            return Ok(());
        }
        for (event, entry) in wanted {
            let no_array = || wrong(self.file, &format!("`hooks.{event}` is not an array"));
            hooks.array_value_or_create(event).ok_or_else(no_array)?.append(json_input(entry));
        }
        Ok(())
    }

    /// Adds the version to a new file of `PicoClaw`. Without it, 0.2.6 would migrate the file as an old one and lose
    /// its hooks.
    fn versioned(&self, root: &CstObject) -> anyhow::Result<()> {
        let old = root.properties().iter().filter_map(CstObjectProp::decoded_name).any(|name| name != "hooks");
        if old {
            let why = "it has no `version`, so PicoClaw migrates it when it starts, and drops hooks; start PicoClaw once, and install then";
            return Err(wrong(self.file, why));
        }
        root.insert(0, "version", json_input(&json!(PICOCLAW_VERSION)));
        Ok(())
    }

    /// Every handler with its place, in the order of the file.
    pub fn layout(&self) -> anyhow::Result<Vec<PlacedHandler>> {
        let mut layout = Vec::new();
        if self.client.form == Form::Process {
            return Ok(layout);
        }
        for (event, array) in self.events()? {
            for (group, element) in array.elements().into_iter().enumerate() {
                let value = element.to_serde_value().unwrap_or_default();
                for (index, handler) in handlers(&value).into_iter().enumerate() {
                    let is_ours = ours(&handler).is_some();
                    let what = only(&value, vec![handler]);
                    layout.push(PlacedHandler { event: event.clone(), place: [group, index], is_ours, what });
                }
            }
        }
        Ok(layout)
    }

    /// Removes groups that [`Settings::adopt`] added.
    pub fn disown(&self, groups: &[Group]) -> anyhow::Result<()> {
        for (event, group) in groups {
            if self.client.form == Form::Process {
                let process = self.container()?.and_then(|processes| processes.get(event));
                process.into_iter().for_each(CstObjectProp::remove);
                continue;
            }
            for (_, array) in self.events()?.into_iter().filter(|(name, _)| name == event) {
                let mut elements = array.elements().into_iter();
                let element = elements.find(|element| element.to_serde_value().as_ref() == Some(group));
                element.into_iter().for_each(jsonc_parser::cst::CstNode::remove);
                if array.elements().is_empty() {
                    self.container()?.and_then(|hooks| hooks.get(event)).into_iter().for_each(CstObjectProp::remove);
                }
            }
        }
        Ok(())
    }

    /// The groups that keep the client from running other hooks of their event: the event, the index, and the reason.
    pub fn spoiled(&self) -> anyhow::Result<Vec<(String, usize, &'static str)>> {
        let mut spoiled = Vec::new();
        if self.client.form == Form::Process {
            return Ok(spoiled);
        }
        for (event, array) in self.events()? {
            for (index, element) in array.elements().into_iter().enumerate() {
                let why = self.client.spoils(&element.to_serde_value().unwrap_or_default());
                spoiled.extend(why.map(|why| (event.clone(), index, why)));
            }
        }
        Ok(spoiled)
    }

    /// Returns true if the event has the handlers of this group. For processes: if the process of this name is the
    /// same.
    pub fn has(&self, event: &str, group: &Value) -> anyhow::Result<bool> {
        if self.client.form == Form::Process {
            let process = self.container()?.and_then(|processes| processes.get(event)?.value()?.to_serde_value());
            return Ok(process.as_ref() == Some(group));
        }
        let of_event = handlers(group);
        let layout = self.layout()?;
        Ok(of_event.iter().all(|handler| {
            let alone = only(group, vec![handler.clone()]);
            layout.iter().any(|placed| placed.event == event && placed.what == alone)
        }))
    }

    /// Sets `hooks.defaults`, which contains `PicoClaw`'s timeouts of processes.
    pub fn set_defaults(&self, defaults: &Value) -> anyhow::Result<()> {
        let root = self.root.object_value_or_create().ok_or_else(|| wrong(self.file, "it is not an object"))?;
        let hooks = root.object_value_or_create("hooks").ok_or_else(|| wrong(self.file, "`hooks` is not an object"))?;
        set(&hooks, "defaults", defaults);
        Ok(())
    }

    /// Sets an option beside the events in `hooks`, such as blade's switches.
    pub fn switch(&self, name: &str, value: &Value) -> anyhow::Result<()> {
        if let Some(hooks) = self.hooks()? {
            set(&hooks, name, value);
        }
        Ok(())
    }

    /// Removes hookbox entries, and containers that become empty.
    pub fn remove(&self, which: impl Fn(&Found) -> bool) -> anyhow::Result<()> {
        self.strip(which, true)
    }

    fn strip(&self, which: impl Fn(&Found) -> bool, whole: bool) -> anyhow::Result<()> {
        let found: Vec<Found> = self.found()?.into_iter().filter(which).collect();
        if found.is_empty() {
            return Ok(());
        }
        if self.client.form == Form::Process {
            for found in &found {
                self.container()?
                    .and_then(|processes| processes.get(&found.event))
                    .into_iter()
                    .for_each(CstObjectProp::remove);
            }
            if whole {
                self.tidy_processes()?;
            }
            return Ok(());
        }
        for (event, array) in self.events()? {
            let places = found.iter().filter(|found| found.event == event).map(|found| found.place).collect::<Vec<_>>();
            take_out(&array, &places);
            let empty = array.elements().is_empty();
            if whole && empty && !places.is_empty() {
                self.container()?.and_then(|hooks| hooks.get(&event)).into_iter().for_each(CstObjectProp::remove);
            }
        }
        // Switches have no effect without events.
        if whole && self.events()?.is_empty() {
            let hooks = self.root.object_value().and_then(|root| root.get("hooks"));
            if let Some(hooks) = hooks {
                hooks.remove();
            }
        }
        Ok(())
    }

    /// Removes containers that become empty when processes are removed, and an `enabled` switch without processes.
    fn tidy_processes(&self) -> anyhow::Result<()> {
        if self.container()?.is_some_and(|processes| processes.properties().is_empty())
            && let Some(processes) = self.hooks()?.and_then(|hooks| hooks.get("processes"))
        {
            processes.remove();
        }
        let switch = |hooks: &CstObject| {
            hooks.properties().iter().all(|property| property.decoded_name().as_deref() == Some("enabled"))
        };
        if self.hooks()?.as_ref().is_some_and(switch)
            && let Some(hooks) = self.root.object_value().and_then(|root| root.get("hooks"))
        {
            hooks.remove();
        }
        Ok(())
    }

    /// Removes the handlers that `takes` accepts and that do not run hookbox. Returns them as groups for hookbox's
    /// configuration, and a message for each handler that stays.
    pub fn import(
        &self,
        takes: impl Fn(&str, &Value, &Value) -> Result<(), String>,
    ) -> anyhow::Result<(Vec<Group>, Vec<String>)> {
        let (mut groups, mut left) = (Vec::new(), Vec::new());
        let stays = |event: &str, handler: &Value, why: String| {
            format!("{event}: {handler} stays with {}: {why}", self.client.title)
        };
        if self.client.form == Form::Process {
            for property in self.container()?.into_iter().flat_map(|processes| processes.properties()) {
                let (Some(name), Some(value)) = (property.decoded_name(), property.value()) else { continue };
                let handler = value.to_serde_value().unwrap_or_default();
                if ours(&handler).is_some() {
                    continue;
                }
                match takes(&name, &handler, &handler) {
                    Ok(()) => {
                        property.remove();
                        groups.push((name, handler));
                    }
                    Err(why) => left.push(stays(&name, &handler, why)),
                }
            }
            return Ok((groups, left));
        }
        for (event, array) in self.events()? {
            let mut places = Vec::new();
            for (index, element) in array.elements().into_iter().enumerate() {
                let value = element.to_serde_value().unwrap_or_default();
                let mut own = Vec::new();
                for (place, handler) in handlers(&value).into_iter().enumerate() {
                    if ours(&handler).is_some() {
                        continue;
                    }
                    match takes(&event, &handler, &only(&value, vec![handler.clone()])) {
                        Ok(()) => {
                            places.push([index, place]);
                            own.push(handler);
                        }
                        Err(why) => left.push(stays(&event, &handler, why)),
                    }
                }
                if own.is_empty() {
                    continue;
                }
                let group = only(&value, own);
                groups.push((event.clone(), group));
            }
            take_out(&array, &places);
        }
        Ok((groups, left))
    }

    /// Adds groups to hookbox's configuration.
    pub fn adopt(&self, groups: &[Group]) -> anyhow::Result<()> {
        let root = self.root.object_value_or_create().ok_or_else(|| wrong(self.file, "it is not an object"))?;
        let hooks = root.object_value_or_create("hooks").ok_or_else(|| wrong(self.file, "`hooks` is not an object"))?;
        if self.client.form == Form::Process {
            return self.adopt_processes(&hooks, groups);
        }
        for (event, group) in groups {
            let no_array = || wrong(self.file, &format!("`hooks.{event}` is not an array"));
            hooks.array_value_or_create(event).ok_or_else(no_array)?.append(json_input(group));
        }
        Ok(())
    }

    /// Adds processes under `hooks.processes`, as in the client's settings, so that their meaning stays the same.
    fn adopt_processes(&self, hooks: &CstObject, groups: &[Group]) -> anyhow::Result<()> {
        let no_object = || wrong(self.file, "`hooks.processes` is not an object");
        let processes = hooks.object_value_or_create("processes").ok_or_else(no_object)?;
        for (name, process) in groups {
            if processes.get(name).is_some() {
                return Err(wrong(self.file, &format!("`hooks.processes.{name}` exists already, and is another hook")));
            }
            processes.append(name, json_input(process));
        }
        Ok(())
    }
}

/// The syntax that hookbox reads: JSON with comments and trailing commas.
pub fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The handlers of a group. A handler without a group is returned itself.
fn handlers(element: &Value) -> Vec<Value> {
    if let Some(Value::Array(handlers)) = element.get("hooks") {
        return handlers.clone();
    }
    let mut alone = element.clone();
    // A matcher belongs to the group.
    alone.as_object_mut().map(|alone| alone.remove("matcher"));
    vec![alone]
}

/// A group reduced to these of its handlers. A handler without a group is returned unchanged.
fn only(group: &Value, own: Vec<Value>) -> Value {
    match group {
        Value::Object(group) if group.contains_key("hooks") => {
            let mut group = group.clone();
            group.insert("hooks".into(), own.into());
            Value::Object(group)
        }
        flat => flat.clone(),
    }
}

/// Replaces one handler by the handler of an entry. If it is the group's only handler, replaces the whole group with
/// its matcher.
fn replace(array: &CstArray, [group, handler]: [usize; 2], entry: &Value) -> bool {
    let Some(element) = array.elements().into_iter().nth(group).and_then(|element| element.as_object()) else {
        return false;
    };
    let nested = element.array_value("hooks").filter(|_| entry.get("hooks").is_some());
    let Some(handlers) = nested.filter(|handlers| handlers.elements().len() > 1) else {
        return element.replace_with(json_input(entry)).is_some();
    };
    let matched = element.get("matcher").is_some();
    let place = handlers.elements().into_iter().nth(handler).and_then(|handler| handler.as_object());
    match (place, entry.pointer("/hooks/0")) {
        // With another handler's matcher it would not run on every call.
        (Some(place), Some(entry)) if !matched => place.replace_with(json_input(entry)).is_some(),
        _ => false,
    }
}

/// Removes handlers from an event's array, and groups that become empty. Each place is the index of the group and of
/// the handler.
fn take_out(array: &CstArray, places: &[[usize; 2]]) {
    for (group, element) in array.elements().into_iter().enumerate().rev() {
        let of_group: Vec<usize> = places.iter().filter(|place| place[0] == group).map(|place| place[1]).collect();
        if of_group.is_empty() {
            continue;
        }
        let nested = element.as_object().and_then(|group| group.array_value("hooks"));
        match nested {
            Some(handlers) if handlers.elements().len() > of_group.len() => {
                let elements = handlers.elements().into_iter().enumerate();
                elements.filter(|(index, _)| of_group.contains(index)).for_each(|(_, handler)| handler.remove());
            }
            _ => element.remove(),
        }
    }
}

/// Sets a property, unless it already has this value.
fn set(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        Some(property) if property.value().and_then(|value| value.to_serde_value()).as_ref() == Some(value) => {}
        Some(property) => property.set_value(json_input(value)),
        None => drop(object.append(name, json_input(value))),
    }
}

/// A value as the editor takes it.
pub fn json_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(json_input).collect()),
        Value::Object(fields) => CstInputValue::Object(object_input(fields)),
    }
}

fn object_input(fields: &Map<String, Value>) -> Vec<(String, CstInputValue)> {
    fields.iter().map(|(key, value)| (key.clone(), json_input(value))).collect()
}

fn wrong(file: &Path, why: &str) -> anyhow::Error {
    Exit::Config.error(format!("{}: {why}; the file was not changed", file.display()))
}
