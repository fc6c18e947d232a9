//! The native part of hookbox for Python. `hookbox_runtime/_native.pyi` has its types.
//!
//! No call holds the GIL while hooks run: a synchronous call releases it, and an asynchronous call returns immediately.
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]

mod deliver;
mod error;
mod hook;
mod hook_set;
mod response;
mod runtime;
mod wait;

use pyo3::pymodule;

/// The extension module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::deliver::Task;
    #[pymodule_export]
    use super::hook::Reply;
    #[pymodule_export]
    use super::hook_set::HookSet;
    #[pymodule_export]
    use super::response::Response;
    #[pymodule_export]
    use super::runtime::Runtime;
}
