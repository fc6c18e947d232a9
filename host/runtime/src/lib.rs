//! Run AI agent hooks as sandboxed WebAssembly components.

pub mod config;
