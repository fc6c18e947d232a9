//! Lists the handlers in a client's settings.

use serde_json::Value;

use super::{
    Settings,
    group::{self, Position},
};
use crate::clients::command::HookboxCommand;

/// A hookbox entry in a client's settings.
#[derive(Debug)]
pub struct Found {
    /// The event, or the name of the process.
    pub event: String,
    /// Its position in the event's array.
    pub position: Position,
    /// The matcher of its group.
    pub matcher: Option<String>,
    /// The parsed command line.
    pub command: HookboxCommand,
    /// The whole handler.
    pub handler: Value,
}

/// A handler and its position.
#[derive(Debug)]
pub struct PlacedHandler {
    /// The event.
    pub event: String,
    /// Its position in the event's array.
    pub position: Position,
    /// True if it runs hookbox.
    pub runs_hookbox: bool,
    /// Its group, reduced to this handler.
    pub group: Value,
}

impl Settings<'_> {
    /// All hookbox entries.
    pub fn found(&self) -> anyhow::Result<Vec<Found>> {
        let mut found = Vec::new();
        for (event, process) in self.processes()? {
            let Some(handler) = process.value().and_then(|value| value.to_serde_value()) else { continue };
            if let Some(command) = HookboxCommand::of(&handler) {
                let position = Position { group: 0, handler: 0 };
                found.push(Found { event, position, matcher: None, command, handler });
            }
        }
        for (event, array) in self.events()? {
            for (group, element) in array.elements().into_iter().enumerate() {
                let value = element.to_serde_value().unwrap_or_default();
                let matcher = value.get("matcher").and_then(Value::as_str).map(str::to_owned);
                for (index, handler) in group::handlers(&value).into_iter().enumerate() {
                    if let Some(command) = HookboxCommand::of(&handler) {
                        let position = Position { group, handler: index };
                        let (event, matcher) = (event.clone(), matcher.clone());
                        found.push(Found { event, position, matcher, command, handler });
                    }
                }
            }
        }
        Ok(found)
    }

    /// Every handler with its position, in the order of the file. Empty if the client runs processes.
    pub fn layout(&self) -> anyhow::Result<Vec<PlacedHandler>> {
        let mut layout = Vec::new();
        for (event, array) in self.events()? {
            for (group, element) in array.elements().into_iter().enumerate() {
                let value = element.to_serde_value().unwrap_or_default();
                for (index, handler) in group::handlers(&value).into_iter().enumerate() {
                    let runs_hookbox = HookboxCommand::of(&handler).is_some();
                    let position = Position { group, handler: index };
                    let group = group::with_handlers(&value, vec![handler]);
                    layout.push(PlacedHandler { event: event.clone(), position, runs_hookbox, group });
                }
            }
        }
        Ok(layout)
    }

    /// The groups that keep the client from running other hooks of their event: the event, the index, and the reason.
    pub fn spoiled(&self) -> anyhow::Result<Vec<(String, usize, &'static str)>> {
        let mut spoiled = Vec::new();
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
        if self.uses_processes() {
            let process = self.container()?.and_then(|processes| processes.get(event)?.value()?.to_serde_value());
            return Ok(process.as_ref() == Some(group));
        }
        let layout = self.layout()?;
        Ok(group::handlers(group).into_iter().all(|handler| {
            let alone = group::with_handlers(group, vec![handler]);
            layout.iter().any(|placed| placed.event == event && placed.group == alone)
        }))
    }
}
