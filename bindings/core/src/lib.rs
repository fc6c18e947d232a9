//! The surface that the packages for Node.js and Python wrap: open a runtime, load a hook set, decide, check, explain, close.
//!
//! Options are JSON in the words of the configuration file, and events are bytes, so that both packages have the same rules and the
//! same messages. A package adds types and idiomatic calls, but no rules.

mod check;
mod effect;
mod error;
mod executor;
mod finding;
mod hook;
mod hook_set;
mod options;
mod runtime;

pub use check::check;
pub use effect::{Effect, Replacement, to_json, to_lines};
pub use error::{Code, Error};
pub use executor::Task;
pub use finding::Finding;
pub use hook::{Answer, HostHook};
pub use hook_set::{HookSet, Request};
pub use hookbox::Response;
pub use options::{LoadOptions, RuntimeOptions, Source};
pub use runtime::Runtime;
