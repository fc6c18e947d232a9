//! One WebAssembly component, one call: load a hook, call it in a sandbox of its own, and learn how that went.
//!
//! Nothing here knows a configuration file, a store, an HTTP client or a model: what a hook may reach beyond its call is
//! handed in as [`capability`] traits. Whoever wants hooks from a configuration takes the crate `hookbox`.

pub mod beneath;
mod bindings;
mod cache;
mod call;
pub mod capability;
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
mod sealed;
mod store;
mod trace;

pub use compiler::{CompileLimits, Compiler};
pub use component::Component;
pub use digest::sha256;
pub use engine::{Engine, EngineOptions, Profile};
pub use error::LoadError;
pub use limits::{Limits, WEEK};
pub use loads::Loads;
pub use permission::{DirectoryBounds, Grant, Permissions};
pub use run::{CallContext, LogLevel, LogLine, Run};
