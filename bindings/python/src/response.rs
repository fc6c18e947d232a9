//! The answer to one event.

use hookbox_embed::{Effect, Response as Answer, to_json};
use pyo3::{
    Bound, Py, PyAny, PyErr, Python, pyclass, pymethods,
    sync::PyOnceLock,
    types::{PyAnyMethods, PyString, PyTuple},
};

use crate::error::or_raise;

/// The answer to one event; the fields are those of the library's `Response`.
#[pyclass(frozen, module = "hookbox_runtime._native")]
pub struct Response {
    answer: Answer,
    effect: Effect,
    report: PyOnceLock<Py<PyAny>>,
    output: PyOnceLock<Py<PyAny>>,
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self { effect: Effect::of(&answer), answer, report: PyOnceLock::new(), output: PyOnceLock::new() }
    }
}

/// Reads JSON as a Python value.
fn loads(py: Python<'_>, text: &str) -> Result<Py<PyAny>, PyErr> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(LOADS.import(py, "json", "loads")?.call1((PyString::new(py, text),))?.unbind())
}

/// A value as JSON.
pub(crate) fn text(value: &impl serde::Serialize) -> Result<String, PyErr> {
    serde_json::to_string(value).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl Response {
    /// The text for the client; empty for no output.
    #[getter]
    fn stdout(&self) -> &str {
        &self.answer.stdout
    }

    /// The text is plain text, and not JSON.
    #[getter]
    fn is_text(&self) -> bool {
        self.answer.is_text
    }

    /// The text for the client on stderr.
    #[getter]
    fn stderr(&self) -> Option<&str> {
        self.answer.stderr.as_deref()
    }

    /// Nothing else may be written to stderr.
    #[getter]
    fn quiet(&self) -> bool {
        self.answer.quiet
    }

    /// The exit code of a program that is the client's hook.
    #[getter]
    fn exit_code(&self) -> u8 {
        self.answer.exit_code
    }

    /// The outcome in a word.
    #[getter]
    fn outcome(&self) -> &str {
        &self.answer.outcome
    }

    /// True if the verdict blocks.
    #[getter]
    fn blocks(&self) -> bool {
        self.answer.blocks
    }

    /// True if the verdict blocks, asks the user, or rewrites.
    #[getter]
    fn restricts(&self) -> bool {
        self.answer.restricts
    }

    /// The reason to block by where the text cannot be written.
    #[getter]
    fn undelivered(&self) -> Option<&str> {
        self.answer.undelivered.as_deref()
    }

    /// The reason not to perform the action with the event's own value.
    #[getter]
    fn refusal(&self) -> Option<&str> {
        self.effect.refusal.as_deref()
    }

    /// The value in place of the event's own, as the only item of a tuple.
    #[getter]
    fn replacement<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyTuple>>, PyErr> {
        let Some(replacement) = &self.effect.replacement else { return Ok(None) };
        PyTuple::new(py, [loads(py, &text(&replacement.value)?)?]).map(Some)
    }

    /// The kind and the message of an error of hookbox itself.
    #[getter]
    fn error(&self) -> Option<(String, &str)> {
        self.answer.error.as_ref().map(|error| {
            let kind = serde_json::to_value(error.kind).ok();
            (kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default(), error.message.as_str())
        })
    }

    /// The text as a value: JSON read, plain text as a string, nothing as `None`.
    #[getter]
    fn output(&self, py: Python<'_>) -> Result<Py<PyAny>, PyErr> {
        let read = || loads(py, &self.answer.stdout_json());
        Ok(self.output.get_or_try_init(py, read)?.clone_ref(py))
    }

    /// Each hook's part and the sentence that decided; `None`: no hook ran.
    #[getter]
    fn report(&self, py: Python<'_>) -> Result<Py<PyAny>, PyErr> {
        let read = || match self.answer.report() {
            Some(report) => loads(py, &text(&report)?),
            None => Ok(py.None()),
        };
        Ok(self.report.get_or_try_init(py, read)?.clone_ref(py))
    }

    /// All of it as JSON.
    fn to_json(&self, py: Python<'_>) -> Result<String, PyErr> {
        or_raise(py, to_json(&self.answer))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let answer = &slf.get().answer;
        let blocks = if answer.blocks { "True" } else { "False" };
        format!("Response(outcome='{}', blocks={blocks})", answer.outcome)
    }
}
