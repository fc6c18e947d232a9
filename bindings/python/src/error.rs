//! Errors as Python raises them.

use hookbox_embed::Error;
use pyo3::{PyErr, Python, types::PyAnyMethods};

/// Makes a `HookboxError(code, message, details)` of the package. If that fails, returns the error of making it.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let made = py
        .import("hookbox_runtime._errors")
        .and_then(|module| module.getattr("HookboxError"))
        .and_then(|class| class.call1((error.code.word(), &error.message, error.details().to_string())));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// A result as Python gets it.
pub(crate) fn or_raise<T>(py: Python<'_>, result: Result<T, Error>) -> Result<T, PyErr> {
    result.map_err(|error| raised(py, &error))
}
