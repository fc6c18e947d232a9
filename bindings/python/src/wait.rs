//! Synchronous calls.

use std::{future::Future, time::Duration};

use hookbox_embed::Error;
use pyo3::{PyErr, Python};
use tokio::{select, time::sleep};

use crate::error::or_raise;

/// The interval at which a waiting call looks for signals, so that Ctrl-C ends it.
const SIGNALS: Duration = Duration::from_millis(100);

/// Runs a future to its end on this thread, without the GIL.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    runtime: &hookbox_embed::Runtime,
    future: impl Future<Output = Result<T, Error>> + Send,
) -> Result<T, PyErr> {
    let waited = py.detach(|| {
        runtime.block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                select! {
                    biased;
                    done = &mut future => return Ok(done),
                    () = sleep(SIGNALS) => Python::attach(signals)?,
                }
            }
        })
    });
    let done: Result<Result<T, Error>, PyErr> = or_raise(py, waited)?;
    or_raise(py, done?)
}

/// Raises the exceptions of Python's signal handlers.
fn signals(py: Python<'_>) -> Result<(), PyErr> {
    py.check_signals()
}
