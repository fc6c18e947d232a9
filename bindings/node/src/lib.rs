//! The native part of hookbox for Node.js. `ts/` adds promises, classes and types.
//!
//! Only calls that end in `Sync` wait on the thread of JavaScript. All results go through one function, `Post`, which does not keep
//! the process alive: `ts/calls.ts` does, while a caller waits.

#![allow(clippy::needless_pass_by_value, reason = "arguments from JavaScript are owned")]

mod calls;
mod hook;
mod hook_set;
mod post;
mod runtime;

pub use hook_set::NativeHookSet;
pub use runtime::{NativeHook, NativeRuntime};
