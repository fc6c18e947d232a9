//! The list of all dialects.

use super::{blade, blade_callback, claude, codebuddy, codex, copilot, gemini, opencode, picoclaw};
use crate::protocol::Dialect;

/// Every dialect and profile, by name. A new dialect needs a folder and a line here.
pub static ALL: &[&dyn Dialect] = &[
    &claude::DOCUMENTED,
    &claude::OBSERVED,
    &codebuddy::DOCUMENTED,
    &codebuddy::OBSERVED,
    &blade::DOCUMENTED,
    &blade::OBSERVED,
    &blade_callback::DOCUMENTED,
    &blade_callback::OBSERVED,
    &picoclaw::DIALECT,
    &copilot::DIALECT,
    &opencode::DIALECT,
    &codex::DIALECT,
    &gemini::DIALECT,
];

/// Returns the dialect of this name, for example `claude` or `claude@observed`.
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name() == name)
}
