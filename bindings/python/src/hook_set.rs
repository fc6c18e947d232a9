//! A loaded configuration, which decides on events.

use std::{future::Future, time::Duration};

use hookbox_embed::{Code, Error, Request};
use pyo3::{Py, PyAny, PyErr, Python, exceptions::PyValueError, pybacked::PyBackedBytes, pyclass, pymethods};

use crate::{
    deliver::{Task, start},
    response::{Response, text},
    wait::wait,
};

/// The hooks of one configuration.
#[pyclass(frozen, module = "hookbox_runtime._native")]
pub struct HookSet {
    hooks: hookbox_embed::HookSet,
}

impl HookSet {
    pub(crate) fn new(hooks: hookbox_embed::HookSet) -> Self {
        Self { hooks }
    }

    fn deciding(
        &self,
        event: PyBackedBytes,
        request: Request,
    ) -> impl Future<Output = Result<Response, Error>> + Send + 'static {
        let hooks = self.hooks.clone();
        async move { hooks.decide(&event, &request).await.map(Response::from) }
    }

    fn explaining(
        &self,
        event: PyBackedBytes,
        request: Request,
    ) -> impl Future<Output = Result<String, Error>> + Send + 'static {
        let hooks = self.hooks.clone();
        async move { Ok(hooks.explain(&event, &request).await?.to_string()) }
    }

    fn checking(&self) -> impl Future<Output = Result<String, Error>> + Send + 'static {
        let hooks = self.hooks.clone();
        async move {
            let found = hooks.check().await?;
            text(&found).map_err(|error| Error::new(Code::System, error.to_string()))
        }
    }

    fn closing(&self, grace: Duration) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let hooks = self.hooks.clone();
        async move {
            hooks.close(grace).await;
            Ok(())
        }
    }
}

fn seconds(name: &str, seconds: f64) -> Result<Duration, PyErr> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("invalid `{name}`: expected a number of seconds, not {seconds}")))
}

fn request(event_name: Option<String>, timeout: Option<f64>, body_only: bool) -> Result<Request, PyErr> {
    let timeout = timeout.map(|timeout| seconds("timeout", timeout)).transpose()?;
    Ok(Request { event_name, timeout, body_only })
}

#[pymethods]
impl HookSet {
    /// The dialect, with its profile.
    #[getter]
    fn dialect(&self) -> &str {
        self.hooks.dialect()
    }

    /// The tenant.
    #[getter]
    fn tenant(&self) -> &str {
        self.hooks.tenant()
    }

    /// Wire names of the events that have a hook.
    #[getter]
    fn events(&self) -> Vec<String> {
        self.hooks.events().to_vec()
    }

    /// Warnings about the configuration, as JSON.
    #[getter]
    fn warnings(&self) -> Result<String, PyErr> {
        text(&self.hooks.warnings())
    }

    /// Decides on an event, and calls `done(response, error)`.
    fn decide(
        &self,
        py: Python<'_>,
        event: PyBackedBytes,
        event_name: Option<String>,
        timeout: Option<f64>,
        body_only: bool,
        done: Py<PyAny>,
    ) -> Result<Task, PyErr> {
        let deciding = self.deciding(event, request(event_name, timeout, body_only)?);
        start(py, self.hooks.runtime(), deciding, done)
    }

    /// Decides on an event.
    fn decide_sync(
        &self,
        py: Python<'_>,
        event: PyBackedBytes,
        event_name: Option<String>,
        timeout: Option<f64>,
        body_only: bool,
    ) -> Result<Response, PyErr> {
        let deciding = self.deciding(event, request(event_name, timeout, body_only)?);
        wait(py, self.hooks.runtime(), deciding)
    }

    /// Explains an event, and calls `done(report, error)` with the report as JSON.
    fn explain(
        &self,
        py: Python<'_>,
        event: PyBackedBytes,
        event_name: Option<String>,
        done: Py<PyAny>,
    ) -> Result<Task, PyErr> {
        let explaining = self.explaining(event, request(event_name, None, false)?);
        start(py, self.hooks.runtime(), explaining, done)
    }

    /// Explains an event; the report as JSON.
    fn explain_sync(&self, py: Python<'_>, event: PyBackedBytes, event_name: Option<String>) -> Result<String, PyErr> {
        let explaining = self.explaining(event, request(event_name, None, false)?);
        wait(py, self.hooks.runtime(), explaining)
    }

    /// Checks every hook, and calls `done(findings, error)` with findings as JSON.
    fn check(&self, py: Python<'_>, done: Py<PyAny>) -> Result<Task, PyErr> {
        start(py, self.hooks.runtime(), self.checking(), done)
    }

    /// Checks every hook; findings as JSON.
    fn check_sync(&self, py: Python<'_>) -> Result<String, PyErr> {
        wait(py, self.hooks.runtime(), self.checking())
    }

    /// Ends the work of the hooks, and calls `done(None, error)`.
    fn close(&self, py: Python<'_>, grace: f64, done: Py<PyAny>) -> Result<Task, PyErr> {
        start(py, self.hooks.runtime(), self.closing(seconds("grace", grace)?), done)
    }

    /// Ends the work of the hooks.
    fn close_sync(&self, py: Python<'_>, grace: f64) -> Result<(), PyErr> {
        wait(py, self.hooks.runtime(), self.closing(seconds("grace", grace)?))
    }
}
