//! Results from the runtime's threads to Python. A separate thread waits for the GIL, so that no thread that runs components does.

use std::{
    future::Future,
    sync::{
        OnceLock, PoisonError, RwLock,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use hookbox_embed::{Code, Error, Runtime};
use pyo3::{IntoPyObjectExt, Py, PyAny, PyErr, Python, pyclass, pymethods};

use crate::error::raised;

type Delivery = Box<dyn FnOnce(Python<'_>) + Send>;

/// The process that started the thread, and the sender to it.
type Post = (u32, Sender<Delivery>);

/// The sender to the thread of this process. A fork needs a new one.
static POST: OnceLock<RwLock<Option<Post>>> = OnceLock::new();

/// Queues work that needs the GIL. It is dropped after the interpreter has ended.
pub(crate) fn post(delivery: Delivery) -> Result<(), Error> {
    let gone = |_| Error::new(Code::System, "the thread that answers Python is gone");
    let process = std::process::id();
    let post = POST.get_or_init(RwLock::default);
    if let Some((started_by, sender)) = &*post.read().unwrap_or_else(PoisonError::into_inner)
        && *started_by == process
    {
        return sender.send(delivery).map_err(gone);
    }
    let mut post = post.write().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, sender)) = post.as_ref().filter(|(started_by, _)| *started_by == process) {
        return sender.send(delivery).map_err(gone);
    }
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("hookbox-python".into())
        .spawn(|| deliver(receiver))
        .map_err(|error| Error::new(Code::System, format!("cannot start a thread: {error}")))?;
    sender.send(delivery).map_err(gone)?;
    *post = Some((process, sender));
    Ok(())
}

/// Takes the GIL once for all queued work.
fn deliver(receiver: Receiver<Delivery>) {
    while let Ok(first) = receiver.recv() {
        let all = std::iter::once(first).chain(receiver.try_iter());
        let delivered = Python::try_attach(|py| all.for_each(|delivery| delivery(py)));
        if delivered.is_none() {
            return;
        }
    }
}

/// Runs a future on the runtime's threads and calls `done(value, error)` with its result.
pub(crate) fn start<T, F>(py: Python<'_>, runtime: &Runtime, future: F, done: Py<PyAny>) -> Result<Task, PyErr>
where
    T: for<'py> IntoPyObjectExt<'py> + Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let task = runtime.spawn(async move {
        let result = future.await;
        // Without the thread the result cannot be delivered; the caller's own timeout ends its wait.
        let _ = post(Box::new(move |py| {
            let arguments = match result {
                Ok(value) => value.into_py_any(py).map(|value| (Some(value), None)),
                Err(error) => Err(raised(py, &error)),
            };
            let arguments = arguments.unwrap_or_else(|error| (None, Some(error.into_value(py).into_any())));
            if let Err(error) = done.call1(py, arguments) {
                error.write_unraisable(py, None);
            }
        }));
    });
    task.map(Task).map_err(|error| raised(py, &error))
}

/// A call on the runtime's threads.
#[pyclass(frozen, module = "hookbox_runtime._native")]
pub struct Task(hookbox_embed::Task);

#[pymethods]
impl Task {
    /// Ends the call at its next `await`.
    fn cancel(&self) {
        self.0.cancel();
    }
}
