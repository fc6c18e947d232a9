//! The runtime of a process.

use std::{future::Future, path::PathBuf};

use hookbox_embed::{Error, Finding, HostHook, LoadOptions, RuntimeOptions, Source};
use pyo3::{Bound, Py, PyAny, PyErr, Python, pyclass, pymethods};

use crate::{
    deliver::{Task, start},
    error::or_raise,
    hook::hook,
    hook_set::HookSet,
    response::text,
    wait::wait,
};

/// The parts that all hook sets of a process share.
#[pyclass(frozen, module = "hookbox_runtime._native")]
pub struct Runtime(hookbox_embed::Runtime);

/// The source of the configuration: a file, or a text with the folder of its relative paths.
fn source(file: Option<PathBuf>, content: Option<String>, folder: Option<PathBuf>) -> Source {
    match (file, content) {
        (Some(file), _) => Source::File(file),
        (None, content) => Source::Text(content.unwrap_or_default(), folder.unwrap_or_else(|| ".".into())),
    }
}

fn findings(found: &[Finding]) -> Result<String, Error> {
    text(&found).map_err(|error| Error::new(hookbox_embed::Code::System, error.to_string()))
}

type Hooks<'py> = Vec<(String, Bound<'py, PyAny>)>;

impl Runtime {
    fn loading(
        &self,
        py: Python<'_>,
        source: Source,
        options: &str,
        hooks: &Hooks<'_>,
    ) -> Result<impl Future<Output = Result<HookSet, Error>> + Send + 'static, PyErr> {
        let options = or_raise(py, LoadOptions::parse(options))?;
        let hooks: Result<Vec<HostHook>, Error> = hooks.iter().map(|(entry, invoke)| hook(entry, invoke)).collect();
        let (runtime, hooks) = (self.0.clone(), or_raise(py, hooks)?);
        Ok(async move { hookbox_embed::HookSet::load(&runtime, source, options, hooks).await.map(HookSet::new) })
    }

    fn checking(
        &self,
        py: Python<'_>,
        source: Source,
        options: &str,
    ) -> Result<impl Future<Output = Result<String, Error>> + Send + 'static, PyErr> {
        let (runtime, options) = (self.0.clone(), or_raise(py, LoadOptions::parse(options))?);
        Ok(async move { findings(&hookbox_embed::check(&runtime, source, options).await?) })
    }
}

#[pymethods]
impl Runtime {
    /// Opens a runtime with options as JSON and the program that compiles components.
    #[new]
    fn open(py: Python<'_>, options: &str, compiler: Option<PathBuf>) -> Result<Self, PyErr> {
        let options = or_raise(py, RuntimeOptions::parse(options))?;
        or_raise(py, py.detach(|| hookbox_embed::Runtime::open(options, compiler))).map(Self)
    }

    /// Loads a hook set, and calls `done(hook_set, error)`.
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn load(
        &self,
        py: Python<'_>,
        file: Option<PathBuf>,
        text: Option<String>,
        folder: Option<PathBuf>,
        options: &str,
        hooks: Hooks<'_>,
        done: Py<PyAny>,
    ) -> Result<Task, PyErr> {
        let loading = self.loading(py, source(file, text, folder), options, &hooks)?;
        start(py, &self.0, loading, done)
    }

    /// Loads a hook set.
    fn load_sync(
        &self,
        py: Python<'_>,
        file: Option<PathBuf>,
        text: Option<String>,
        folder: Option<PathBuf>,
        options: &str,
        hooks: Hooks<'_>,
    ) -> Result<HookSet, PyErr> {
        let loading = self.loading(py, source(file, text, folder), options, &hooks)?;
        wait(py, &self.0, loading)
    }

    /// Checks a configuration, and calls `done(findings, error)` with findings as JSON.
    fn check(
        &self,
        py: Python<'_>,
        file: Option<PathBuf>,
        text: Option<String>,
        folder: Option<PathBuf>,
        options: &str,
        done: Py<PyAny>,
    ) -> Result<Task, PyErr> {
        let checking = self.checking(py, source(file, text, folder), options)?;
        start(py, &self.0, checking, done)
    }

    /// Checks a configuration; findings as JSON.
    fn check_sync(
        &self,
        py: Python<'_>,
        file: Option<PathBuf>,
        text: Option<String>,
        folder: Option<PathBuf>,
        options: &str,
    ) -> Result<String, PyErr> {
        let checking = self.checking(py, source(file, text, folder), options)?;
        wait(py, &self.0, checking)
    }

    /// Refuses later calls.
    fn close(&self) {
        self.0.close();
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}
