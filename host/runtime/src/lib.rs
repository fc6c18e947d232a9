//! Run AI agent hooks as sandboxed WebAssembly components.

pub mod capability;
pub mod config;
