//! [`Runtime`] and [`HookSet`] without `async`, for programs without a tokio runtime, such as embedders in other
//! languages.
//!
//! ```no_run
//! # fn example(event_json: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//! use hookbox::{Request, Runtime, Tenant, blocking::Blocking, config::Config};
//!
//! let hookbox = Blocking::new(Runtime::builder().build()?)?;
//! let hooks = hookbox.load(Tenant::new("acme"), Config::from_file("acme.json")?)?;
//! let response = hooks.decide(Request::new(event_json));
//! println!("{}", response.stdout);
//! # Ok(())
//! # }
//! ```

use std::{future::Future, io, sync::Arc, thread, time::Duration};

use tokio::runtime::{Builder, Handle};

use crate::{
    config::{Config, Diagnostic},
    error::BuildError,
    hook_set::{self, HookSetBuilder},
    request::Request,
    response::Response,
    runtime::Runtime,
    tenant::Tenant,
};

/// A [`Runtime`] with a background thread for timers, sockets and processes. Cheap to clone. The thread ends when the
/// last clone and the last [`HookSet`] are dropped.
#[derive(Clone, Debug)]
pub struct Blocking {
    runtime: Runtime,
    executor: Arc<Executor>,
}

impl Blocking {
    /// Starts the background thread.
    ///
    /// # Errors
    /// An I/O error if the system cannot start the thread or open a file descriptor.
    pub fn new(runtime: Runtime) -> io::Result<Self> {
        let executor = Builder::new_multi_thread().worker_threads(1).thread_name("hookbox").enable_all().build()?;
        Ok(Self { runtime, executor: Arc::new(Executor(Some(executor))) })
    }

    /// The runtime, which all its hook sets share.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Like [`crate::HookSet::load`].
    ///
    /// # Errors
    /// Same as [`crate::HookSet::load`].
    pub fn load(&self, tenant: Tenant, config: Config) -> Result<HookSet, BuildError> {
        self.load_from(hook_set::HookSet::builder(&self.runtime, tenant, config))
    }

    /// Like [`HookSetBuilder::load`].
    ///
    /// # Errors
    /// Same as [`HookSetBuilder::load`].
    pub fn load_from(&self, builder: HookSetBuilder) -> Result<HookSet, BuildError> {
        let hooks = self.executor.block_on(builder.load())?;
        Ok(HookSet { hooks, executor: Arc::clone(&self.executor) })
    }
}

/// A [`crate::HookSet`] whose methods block the calling thread. Any number of threads may call it concurrently.
#[derive(Clone, Debug)]
pub struct HookSet {
    hooks: hook_set::HookSet,
    executor: Arc<Executor>,
}

impl HookSet {
    /// Like [`crate::HookSet::decide`]. Never returns an error.
    pub fn decide(&self, request: Request<'_>) -> Response {
        self.executor.block_on(self.hooks.decide(request))
    }

    /// Like [`crate::HookSet::check`].
    pub fn check(&self) -> Vec<Diagnostic> {
        self.executor.block_on(self.hooks.check())
    }

    /// Like [`crate::HookSet::close`].
    pub fn close(&self, grace: Duration) -> Vec<(&str, String)> {
        self.executor.block_on(self.hooks.close(grace))
    }

    /// The hook set for `async` code.
    pub fn hooks(&self) -> &hook_set::HookSet {
        &self.hooks
    }
}

/// The tokio runtime. `None` only during `drop`.
#[derive(Debug)]
struct Executor(Option<tokio::runtime::Runtime>);

impl Executor {
    /// Runs a future to completion. Uses the calling thread, or a new thread if the calling thread already runs `async`
    /// code: tokio panics when it blocks there.
    fn block_on<T: Send>(&self, future: impl Future<Output = T> + Send) -> T {
        #[expect(clippy::expect_used, reason = "it is taken by `drop` alone")]
        let runtime = self.0.as_ref().expect("an executor that is in use");
        if Handle::try_current().is_err() {
            return runtime.block_on(future);
        }
        thread::scope(|scope| {
            let thread = scope.spawn(|| runtime.block_on(future));
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Drop for Executor {
    /// Does not wait for tasks, because tokio panics if `async` code waits here.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
