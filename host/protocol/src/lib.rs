//! The hook protocols of AI agents as pure functions.
//!
//! ```text
//! wire JSON ─decode→ Event ─(hooks run elsewhere)→ HookOutput… ─merge→ Outcome ─encode→ wire JSON
//! ```
//!
//! This crate has no processes, no clock and no WebAssembly. Every function is total: it takes any bytes and returns a
//! value or a [`DecodeError`]. It never panics. A protocol is a [`Dialect`]; [`dialect::ALL`] lists all of them.

pub mod authority;
pub mod command;
pub mod degrade;
pub mod dialect;
pub mod event;
pub mod failure;
pub mod glimpse;
pub mod json;
pub mod matcher;
pub mod output;
pub mod protocol;

pub use event::{Event, EventContext, EventKind, ToolCall};
pub use failure::{Cause, Failure, FailurePolicy, Fallback};
pub use glimpse::Glimpse;
pub use json::DecodeError;
pub use output::{Decision, DecisionKind, Halt, HookOutput, Note, NoteKind, Scope};
pub use protocol::{Dialect, Outcome};
