//! Capabilities that a hook may call. A call adds an import to the component, the import requests the capability, and
//! the configuration grants it.

/// The host: the real one in a component, a simulated one in a test.
mod host {
    #[cfg(target_family = "wasm")]
    pub(super) use crate::bindings::shared::hookbox::hooks::{config, event, http, llm, log, state};
    #[cfg(not(target_family = "wasm"))]
    pub(super) use crate::testing::{config, event, http, llm, log, state};
}

pub mod config;
pub mod event;
pub mod http;
pub mod llm;
pub mod log;
pub mod state;
