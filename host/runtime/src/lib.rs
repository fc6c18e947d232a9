//! Run AI agent hooks as sandboxed WebAssembly components.

mod bindings;
mod cache;
pub mod call;
pub mod capability;
pub mod component;
pub mod config;
pub mod engine;
pub mod permission;
mod sandbox;

pub use call::{CallContext, CallReport};
pub use component::{Component, LoadError};
pub use engine::{Engine, EngineOptions};
