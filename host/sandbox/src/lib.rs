//! Sandbox for one WebAssembly component and one call: loads a hook, calls it in a fresh sandbox, and reports the
//! result.
//!
//! This crate has no configuration file, store, HTTP client or model. The caller passes everything that a hook may
//! reach outside its call as [`capability`] traits. To run hooks from a configuration, use the crate `hookbox`.

pub mod beneath;
mod bindings;
mod cache;
mod call;
pub mod capability;
mod clock;
mod code;
pub mod compiler;
pub mod component;
mod digest;
pub mod engine;
mod error;
mod imports;
mod lane;
pub mod limits;
mod loads;
pub mod permission;
pub mod private;
mod run;
pub mod scheduler;
mod sealed;
mod store;
mod trace;

pub use compiler::{CompileLimits, Compiler};
pub use component::Component;
pub use digest::sha256;
pub use engine::{Engine, EngineOptions, Profile};
pub use error::{CONTRACT, LoadError};
pub use limits::{Limits, WEEK};
pub use loads::Loads;
pub use permission::{DirectoryBounds, Grant, Permissions};
pub use run::{ALL_IN_USE, CallContext, LogLevel, LogLine, Run};

/// The WebAssembly engine and its version.
pub const ENGINE: &str = "wasmtime 48.0.8";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs, path::Path};

    #[test]
    fn the_engine_is_the_one_that_is_linked() {
        let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock")).unwrap();
        let version = super::ENGINE.strip_prefix("wasmtime ").unwrap();
        assert!(lock.contains(&format!("name = \"wasmtime\"\nversion = \"{version}\"\n")), "{version}");
    }
}
