//! The surface that the packages for Node.js and Python wrap: open a runtime, load a hook set, decide, check, explain, close.
//!
//! Options come in as JSON, in the words of the configuration file, and events as bytes, so that both packages have the same
//! rules and the same messages. A package adds types and idiom, and no rule of its own.

mod check;
mod error;
mod executor;
mod hook;
mod hook_set;
mod options;
mod runtime;

pub use check::Finding;
pub use error::{Code, Error};
pub use executor::Task;
pub use hook::{Answer, HostHook};
pub use hook_set::{HookSet, Request};
pub use hookbox::Response;
pub use options::{LoadOptions, RuntimeOptions, Source};
pub use runtime::Runtime;
