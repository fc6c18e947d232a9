//! Hooks configured for one client, called by another.

use hookbox_protocol::{Dialect, EventKind};

use super::Config;

impl Config {
    /// The same hooks under another dialect: each for the events that are the same there under another name.
    ///
    /// Copilot and others read the settings of Claude Code and run what stands there, with payloads of their own. What they are
    /// answered must be in their own words: they would not understand a denial in Claude's. How its hooks are written stays
    /// ([`Config::written`]).
    #[must_use]
    pub fn answering(mut self, dialect: &'static dyn Dialect) -> Self {
        for hook in &mut self.hooks {
            hook.events = hook.events.iter().flat_map(|name| renamed(self.dialect, dialect, name)).collect();
        }
        self.dialect = dialect;
        self
    }
}

/// The names of an event under another dialect. One that has no name there keeps its own.
fn renamed(from: &dyn Dialect, to: &dyn Dialect, name: &str) -> Vec<String> {
    let kind = from.spec_by_name(name).map(|spec| spec.kind).filter(|kind| *kind != EventKind::OtherEvent);
    let there: Vec<String> =
        to.specs().iter().filter(|spec| Some(spec.kind) == kind).map(|spec| spec.name.to_owned()).collect();
    if there.is_empty() { vec![name.to_owned()] } else { there }
}
