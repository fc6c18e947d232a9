//! Write [hookbox](https://github.com/hookbox/hookbox) hooks in Rust: a struct, a trait per event, one macro.
//!
//! ```
//! use hookbox_guest::prelude::*;
//!
//! struct Guard;
//!
//! impl PreToolUse for Guard {
//!     fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
//!         match call.input.str("/command") {
//!             Some(command) if command.contains("rm -rf") => Ok(deny(format!("dangerous command: {command}"))),
//!             _ => Ok(pass()),
//!         }
//!     }
//! }
//!
//! hookbox_guest::export!(Guard: PreToolUse);
//! ```
//!
//! **Exports are subscriptions**: the host calls the hook for the events listed in [`export!`]. **Imports are the
//! permission request**: a hook requests a capability ([`state`], [`http`], [`llm`]) by calling it. A capability that
//! is not called does not appear in the component.
//!
//! Every event has a module with its input, its output and its trait. [`Output`] alone is the output for a tool that is
//! about to run; the others are [`stop::Output`], [`user_prompt_submit::Output`] and so on. The compiler checks that an
//! event supports the answer that a hook gives: see [`verb`].
//!
//! A hook is tested like any function, see [`testing`].
#![deny(missing_docs)]

#[cfg(all(feature = "allocator", target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

#[doc(hidden)]
pub mod bindings;
#[macro_use]
mod answer;
mod capability;
mod event;
mod event_context;
mod export;
mod fault;
mod json;
mod output;
mod panic;
#[cfg(target_family = "wasm")]
mod start;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tool_call;
pub mod verb;
mod wire;
#[cfg(test)]
mod wire_tests;

pub use capability::event::raw_event;
pub use capability::{config, http, llm, log, state};
pub use event::*;
pub use event_context::EventContext;
pub use fault::{Fault, Result};
pub use json::Json;
pub use output::{BlockDecision, Decides, Denial, Effects, Halt, Output, PermissionDecision, Scope};
pub use serde_json;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use start::start;
pub use tool_call::ToolCall;
pub use verb::{allow, ask, block, deny, pass, respond, skip};

/// Everything that a hook needs: `use hookbox_guest::prelude::*;`.
pub mod prelude {
    pub use serde_json::{Value, json};

    pub use crate::event::traits::*;
    pub use crate::pre_tool_use::Response;
    pub use crate::{EventContext, Fault, Json, Output, Result, ToolCall};
    pub use crate::{allow, ask, block, deny, pass, respond, skip};
    pub use crate::{config, http, llm, log, raw_event, state};
}
