//! The threads of a runtime.

use std::{future::Future, io, mem, num::NonZeroUsize, process, thread};

use tokio::{
    runtime::{Builder, Runtime},
    task::AbortHandle,
};

use crate::error::{Code, Error};

/// A tokio runtime that knows the process that started it.
pub(crate) struct Executor {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    process: u32,
}

/// Work that goes on without its caller.
#[derive(Debug)]
pub struct Task(AbortHandle);

impl Task {
    /// Ends the work at its next pause. What it would have reported is not reported.
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

    /// The runtime, unless this process is a fork of the one that started it: no thread of that is here.
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
    /// Waits for nothing: a hook may be at work, and tokio panics where `async` code would wait.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.process == process::id() {
            runtime.shutdown_background();
        } else {
            // Its locks may be held by threads that are not in this process.
            mem::forget(runtime);
        }
    }
}
