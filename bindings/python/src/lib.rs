//! hookbox for Python: what `hookbox_runtime` stands on. Its types are in `hookbox_runtime/_native.pyi`.
//!
//! No call holds the GIL while hooks run: a synchronous one lets go of it, an asynchronous one leaves the thread.
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]

mod deliver;
mod error;
mod hook;
mod hook_set;
mod response;
mod runtime;

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
