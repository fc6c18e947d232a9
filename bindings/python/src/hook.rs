//! Python functions as hooks.

use std::sync::{Mutex, PoisonError};

use hookbox_embed::{Answer, Error, HostHook};
use pyo3::{Bound, Py, PyAny, Python, pyclass, pymethods};
use tokio::{sync::oneshot, task::spawn_blocking};

use crate::deliver::post;

/// Takes the answer of one call of a function. Only the first answer counts.
#[pyclass(frozen, module = "hookbox_runtime._native")]
pub struct Reply {
    answer: Mutex<Option<oneshot::Sender<Answer>>>,
    on_cancel: Mutex<Option<Py<PyAny>>>,
}

impl Reply {
    fn give(&self, answer: Answer) {
        let sender = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The receiver is gone after the hook's deadline.
        let _ = sender.map(|sender| sender.send(answer));
    }
}

#[pymethods]
impl Reply {
    /// Answers with the output's JSON.
    fn resolve(&self, output: String) {
        self.give(Ok(output));
    }

    /// Gives the reason why there is no answer.
    fn reject(&self, why: String) {
        self.give(Err(why));
    }

    /// Calls this when the answer is no longer needed.
    fn on_cancel(&self, call: Py<PyAny>) {
        *self.on_cancel.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
    }
}

/// Makes a hook that calls `invoke(event, reply)` on a thread that may block.
pub(crate) fn hook(entry: &str, invoke: &Bound<'_, PyAny>) -> Result<HostHook, Error> {
    let invoke = invoke.clone().unbind();
    HostHook::new(entry, move |event| {
        let (sender, answer) = oneshot::channel();
        let reply = Python::try_attach(|py| {
            let reply = Reply { answer: Mutex::new(Some(sender)), on_cancel: Mutex::new(None) };
            Ok::<_, pyo3::PyErr>((Py::new(py, reply)?, invoke.clone_ref(py)))
        });
        async move {
            let Some(Ok((reply, invoke))) = reply else { return Err("Python has ended".to_owned()) };
            let asked = Python::try_attach(|py| reply.clone_ref(py));
            let mut waiting = Waiting(asked);
            spawn_blocking(move || {
                Python::try_attach(|py| {
                    if let Err(error) = invoke.call1(py, (event, reply.clone_ref(py))) {
                        reply.get().reject(error.to_string());
                    }
                });
            });
            let answer = answer.await;
            waiting.0 = None;
            answer.unwrap_or_else(|_| Err("it ended without a result".to_owned()))
        }
    })
}

/// A pending answer. Dropping it reports to Python that the answer is no longer needed.
struct Waiting(Option<Py<Reply>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(reply) = self.0.take() else { return };
        let _ = post(Box::new(move |py| {
            let call = reply.get().on_cancel.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(Err(error)) = call.map(|call| call.call0(py)) {
                error.write_unraisable(py, None);
            }
        }));
    }
}
