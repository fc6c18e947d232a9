//! hookbox for Node.js: what `ts/` stands on, which gives it promises, classes and types.
//!
//! Nothing here waits on the thread of JavaScript but the calls that end in `Sync`. All that comes back goes through one function,
//! [`Post`], which does not keep the process alive: `ts/calls.ts` does, while a caller waits.

#![allow(clippy::needless_pass_by_value, reason = "arguments from JavaScript are owned")]

mod hook;
mod hook_set;
mod post;
mod runtime;

pub use hook_set::NativeHookSet;
pub use runtime::{NativeHook, NativeRuntime, NativeTask};
