//! Adds, replaces and removes hookbox's entries in a client's settings.

use jsonc_parser::cst::{CstObject, CstObjectProp};
use serde_json::{Value, json};

use super::{Found, Position, Settings, group, jsonc, wrong};
use crate::clients::{Form, command::HookboxCommand};

/// The version that `PicoClaw` 0.2.6 treats as current. Later versions migrate it and keep all hooks.
const PICOCLAW_VERSION: u64 = 2;

/// A new entry, with its event or the name of its process.
type Entry = (String, Value);

impl Settings<'_> {
    /// Replaces the hookbox entries that `is_same` selects by these entries. Entries that are already as wanted are not
    /// rewritten.
    pub fn put(&self, entries: &[Entry], is_same: impl Fn(&HookboxCommand) -> bool) -> anyhow::Result<()> {
        let mut wanted: Vec<&Entry> = entries.iter().collect();
        let mut stale = Vec::new();
        for found in self.found()?.into_iter().filter(|found| is_same(&found.command)) {
            match wanted.iter().position(|entry| self.is_as_wanted(&found, entry)) {
                Some(index) => drop(wanted.remove(index)),
                None => stale.push((found.event, found.position)),
            }
        }
        self.replace_in_place(&mut wanted, &mut stale)?;
        let is_stale =
            |found: &Found| stale.iter().any(|(event, position)| *event == found.event && *position == found.position);
        self.remove_entries(is_stale)?;
        for (event, array) in self.events()? {
            let is_emptied = stale.iter().any(|(stale, _)| *stale == event) && array.elements().is_empty();
            if is_emptied && !wanted.iter().any(|(wanted, _)| *wanted == event) {
                self.remove_property(&event)?;
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        self.add_version()?;
        let hooks = self.hooks_or_new()?;
        if self.uses_processes() {
            jsonc::set(&hooks, "enabled", &json!(true));
        }
        wanted.into_iter().try_for_each(|(event, entry)| self.append(&hooks, event, entry))
    }

    fn is_as_wanted(&self, found: &Found, (event, entry): &Entry) -> bool {
        let is_plain = found.matcher.is_none() && group::handlers(entry) == [found.handler.clone()];
        *event == found.event && (is_plain || self.uses_processes() && *entry == found.handler)
    }

    /// Replaces stale entries by wanted ones of the same event, because clients identify approved hooks by their
    /// position. Removes what it replaced from both lists.
    fn replace_in_place(&self, wanted: &mut Vec<&Entry>, stale: &mut Vec<(String, Position)>) -> anyhow::Result<()> {
        for (name, array) in self.events()? {
            stale.retain(|(event, position)| {
                let index = wanted.iter().position(|(wanted, _)| wanted == event && *event == name);
                let Some(index) = index else { return true };
                let is_replaced = wanted.get(index).is_some_and(|(_, entry)| group::replace(&array, *position, entry));
                if is_replaced {
                    wanted.remove(index);
                }
                !is_replaced
            });
        }
        Ok(())
    }

    /// Adds the version that a client requires.
    fn add_version(&self) -> anyhow::Result<()> {
        let root = self.root_or_new()?;
        match self.client.form {
            Form::Flat if root.get("version").is_none() => {
                root.insert(0, "version", jsonc::input(&json!(1)));
                Ok(())
            }
            Form::Process if self.value().get("version").and_then(Value::as_u64).unwrap_or(0) == 0 => {
                self.add_picoclaw_version(&root)
            }
            _ => Ok(()),
        }
    }

    /// Adds the version to a new file of `PicoClaw`. Without it, 0.2.6 would migrate the file as an old one and lose
    /// its hooks.
    fn add_picoclaw_version(&self, root: &CstObject) -> anyhow::Result<()> {
        let is_old = root.properties().iter().filter_map(CstObjectProp::decoded_name).any(|name| name != "hooks");
        if is_old {
            let why = "it has no `version`, so PicoClaw migrates it when it starts, and drops hooks; start PicoClaw \
                       once, and install then";
            return Err(wrong(self.file, why));
        }
        root.insert(0, "version", jsonc::input(&json!(PICOCLAW_VERSION)));
        Ok(())
    }

    /// Removes hookbox entries, and containers that become empty.
    pub fn remove(&self, is_removed: impl Fn(&Found) -> bool) -> anyhow::Result<()> {
        let events = self.remove_entries(is_removed)?;
        if events.is_empty() {
            return Ok(());
        }
        if self.uses_processes() {
            return self.remove_empty_processes();
        }
        for (event, array) in self.events()? {
            if array.elements().is_empty() && events.contains(&event) {
                self.remove_property(&event)?;
            }
        }
        // Switches have no effect without events.
        if self.events()?.is_empty() {
            self.remove_hooks();
        }
        Ok(())
    }

    /// Removes hookbox entries. Returns their events.
    fn remove_entries(&self, is_removed: impl Fn(&Found) -> bool) -> anyhow::Result<Vec<String>> {
        let found: Vec<Found> = self.found()?.into_iter().filter(is_removed).collect();
        if self.uses_processes() {
            found.iter().try_for_each(|found| self.remove_property(&found.event))?;
        }
        for (event, array) in self.events()? {
            let positions: Vec<_> =
                found.iter().filter(|found| found.event == event).map(|found| found.position).collect();
            group::remove(&array, &positions);
        }
        Ok(found.into_iter().map(|found| found.event).collect())
    }

    /// Removes containers that become empty when processes are removed, and an `enabled` switch without processes.
    fn remove_empty_processes(&self) -> anyhow::Result<()> {
        if self.container()?.is_some_and(|processes| processes.properties().is_empty())
            && let Some(processes) = self.hooks()?.and_then(|hooks| hooks.get("processes"))
        {
            processes.remove();
        }
        let is_switch = |property: &CstObjectProp| property.decoded_name().as_deref() == Some("enabled");
        if self.hooks()?.is_some_and(|hooks| hooks.properties().iter().all(is_switch)) {
            self.remove_hooks();
        }
        Ok(())
    }
}
