//! Moves the user's hooks between a client's settings and hookbox's configuration.

use jsonc_parser::cst::CstNode;
use serde_json::Value;

use super::{
    Settings,
    group::{self, Position},
    jsonc,
};
use crate::clients::command::HookboxCommand;

/// A group of handlers that do not run hookbox, with its event; or a process, with its name.
pub type Group = (String, Value);

impl Settings<'_> {
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
        for (name, process) in self.processes()? {
            let Some(value) = process.value() else { continue };
            let handler = value.to_serde_value().unwrap_or_default();
            if HookboxCommand::of(&handler).is_some() {
                continue;
            }
            match takes(&name, &handler, &handler) {
                Ok(()) => {
                    process.remove();
                    groups.push((name, handler));
                }
                Err(why) => left.push(stays(&name, &handler, why)),
            }
        }
        for (event, array) in self.events()? {
            let mut positions = Vec::new();
            for (group, element) in array.elements().into_iter().enumerate() {
                let value = element.to_serde_value().unwrap_or_default();
                let mut moved = Vec::new();
                for (index, handler) in group::handlers(&value).into_iter().enumerate() {
                    if HookboxCommand::of(&handler).is_some() {
                        continue;
                    }
                    match takes(&event, &handler, &group::with_handlers(&value, vec![handler.clone()])) {
                        Ok(()) => {
                            positions.push(Position { group, handler: index });
                            moved.push(handler);
                        }
                        Err(why) => left.push(stays(&event, &handler, why)),
                    }
                }
                if !moved.is_empty() {
                    groups.push((event.clone(), group::with_handlers(&value, moved)));
                }
            }
            group::remove(&array, &positions);
        }
        Ok((groups, left))
    }

    /// Adds groups to hookbox's configuration. Processes keep their place under `hooks.processes`, so that their
    /// meaning stays the same.
    pub fn adopt(&self, groups: &[Group]) -> anyhow::Result<()> {
        let hooks = self.hooks_or_new()?;
        groups.iter().try_for_each(|(event, group)| self.append(&hooks, event, group))
    }

    /// Removes groups that [`Settings::adopt`] added.
    pub fn disown(&self, groups: &[Group]) -> anyhow::Result<()> {
        for (event, group) in groups {
            if self.uses_processes() {
                self.remove_property(event)?;
                continue;
            }
            for (_, array) in self.events()?.into_iter().filter(|(name, _)| name == event) {
                let mut elements = array.elements().into_iter();
                let element = elements.find(|element| element.to_serde_value().as_ref() == Some(group));
                element.into_iter().for_each(CstNode::remove);
                if array.elements().is_empty() {
                    self.remove_property(event)?;
                }
            }
        }
        Ok(())
    }

    /// Sets `hooks.defaults`, which contains `PicoClaw`'s timeouts of processes.
    pub fn set_defaults(&self, defaults: &Value) -> anyhow::Result<()> {
        jsonc::set(&self.hooks_or_new()?, "defaults", defaults);
        Ok(())
    }
}
