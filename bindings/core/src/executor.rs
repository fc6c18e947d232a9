//! The threads of a runtime.

use std::{future::Future, io, mem, num::NonZeroUsize, process, thread};

use tokio::{
    runtime::{Builder, Runtime},
    task::AbortHandle,
};

use crate::error::{Code, Error};

/// A tokio runtime, and the process that started it.
pub(crate) struct Executor {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    process: u32,
}

/// Work in the background.
#[derive(Debug)]
pub struct Task(AbortHandle);

impl Task {
    /// Ends the work at its next `await`. Its result is dropped.
    pub fn cancel(&self) {
        self.0.abort();
    }
}

impl Executor {
    /// Starts the threads.
    pub(crate) fn new(threads: Option<NonZeroUsize>) -> io::Result<Self> {
        let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let runtime =
            Builder::new_multi_thread().worker_threads(threads).thread_name("hookbox").enable_all().build()?;
        Ok(Self { runtime: Some(runtime), process: process::id() })
    }

    /// The runtime. A fork of the process that started it gets an error, because it has none of the threads.
    fn runtime(&self) -> Result<&Runtime, Error> {
        if self.process != process::id() {
            let message = "the runtime was opened before this process was forked: open another one here";
            return Err(Error::new(Code::Forked, message));
        }
        self.runtime.as_ref().ok_or_else(|| Error::closed("runtime"))
    }

    /// Runs a future to its end on the calling thread.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        Ok(self.runtime()?.block_on(future))
    }

    /// Runs a future on the threads.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<Task, Error> {
        Ok(Task(self.runtime()?.spawn(future).abort_handle()))
    }
}

impl Drop for Executor {
    /// Does not wait: a hook may still run, and tokio panics if `async` code waits.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.process == process::id() {
            runtime.shutdown_background();
        } else {
            // Threads that do not exist in this process may hold its locks.
            mem::forget(runtime);
        }
    }
}
