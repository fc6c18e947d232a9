//! Hooks that are configured for one client and called by another.

use hookbox_protocol::{Dialect, EventKind};

use super::Config;

impl Config {
    /// The same hooks under the dialect of the client that calls them. Renames their events to those of the same kind
    /// there.
    ///
    /// Copilot and others read the settings of Claude Code and call its hooks with their own payloads. They need
    /// responses in their own dialect, because they would not understand a denial in Claude's. [`Config::written`]
    /// keeps the dialect of the hooks.
    #[must_use]
    pub fn answering(mut self, dialect: &'static dyn Dialect) -> Self {
        for hook in &mut self.hooks {
            hook.events = hook.events.iter().flat_map(|name| renamed(self.dialect, dialect, name)).collect();
        }
        self.dialect = dialect;
        self
    }
}

/// The names of an event in another dialect. An event without a name there keeps its name.
fn renamed(from: &dyn Dialect, to: &dyn Dialect, name: &str) -> Vec<String> {
    let kind = from.spec_by_name(name).map(|spec| spec.kind).filter(|kind| *kind != EventKind::OtherEvent);
    let there: Vec<String> =
        to.specs().iter().filter(|spec| Some(spec.kind) == kind).map(|spec| spec.name.to_owned()).collect();
    if there.is_empty() { vec![name.to_owned()] } else { there }
}
