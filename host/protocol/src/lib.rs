//! The hook protocols of five AI agents as pure functions.
//!
//! ```text
//! wire JSON ─decode→ Event ─(hooks run elsewhere)→ Answer… ─merge→ Answer ─encode→ wire JSON
//! ```
//!
//! This crate knows no process, no clock, no WebAssembly. Everything here is total: any bytes in, a value or a
//! [`DecodeError`] out, never a panic. A protocol is a [`Dialect`]; the list of all of them is [`dialect::ALL`].

pub mod answer;
pub mod authority;
pub mod degrade;
pub mod dialect;
pub mod event;
pub mod failure;
pub mod json;
pub mod matcher;

pub use answer::{Answer, Halt, Note, NoteKind, Rule, RuleKind, Scope};
pub use dialect::{Dialect, Merged};
pub use event::{Event, Kind, Origin, ToolCall};
pub use failure::{Behavior, Cause, Failure};
pub use json::DecodeError;
