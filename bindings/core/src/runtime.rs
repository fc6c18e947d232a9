//! The runtime of a process.

use std::{
    future::Future,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hookbox::SqliteStore;

use crate::{
    error::{Code, Error},
    executor::{Executor, Task},
    options::RuntimeOptions,
};

/// The parts that all hook sets of a program share: the engine, compiled components, the state store, threads. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: hookbox::Runtime,
    executor: Executor,
    closed: AtomicBool,
}

impl Runtime {
    /// Opens a runtime. `compiler` is the program that the package carries.
    ///
    /// # Errors
    /// [`Code::Compiler`], [`Code::Options`], [`Code::System`]
    pub fn open(options: RuntimeOptions, compiler: Option<PathBuf>) -> Result<Self, Error> {
        let mut builder = hookbox::Runtime::builder().compile_limits(options.compile_limits);
        if !options.compile_in_process {
            builder = builder.compiler(found(compiler)?);
        }
        if let Some(dir) = options.cache_dir {
            builder = builder.cache_dir(dir);
        }
        if let Some(instances) = options.max_instances {
            builder = builder.max_instances(instances.get());
        }
        if let Some(mib) = options.max_memory_mib {
            builder = builder.max_memory_mib(mib.get());
        }
        if let Some(file) = options.state_file {
            let store = SqliteStore::open(&file)
                .map_err(|error| Error::new(Code::System, format!("state in {}: {error}", file.display())))?;
            builder = builder.state(store);
        }
        let executor = Executor::new(options.threads)
            .map_err(|error| Error::new(Code::System, format!("cannot start the threads of a runtime: {error}")))?;
        let runtime = builder.build()?;
        Ok(Self { shared: Arc::new(Shared { runtime, executor, closed: AtomicBool::new(false) }) })
    }

    /// Refuses later calls. Decisions that have begun are finished.
    pub fn close(&self) {
        self.shared.closed.store(true, Ordering::Release);
    }

    /// Runs a future to its end on the calling thread.
    ///
    /// # Errors
    /// [`Code::Forked`]
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        self.shared.executor.block_on(future)
    }

    /// Runs a future on the runtime's threads.
    ///
    /// # Errors
    /// [`Code::Forked`]
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<Task, Error> {
        self.shared.executor.spawn(future)
    }

    pub(crate) fn is_open(&self) -> Result<(), Error> {
        if self.shared.closed.load(Ordering::Acquire) { Err(Error::closed("runtime")) } else { Ok(()) }
    }

    pub(crate) fn inner(&self) -> &hookbox::Runtime {
        &self.shared.runtime
    }
}

/// The path of the compiler, if it exists.
fn found(compiler: Option<PathBuf>) -> Result<PathBuf, Error> {
    let missing = |place: String| {
        let message = format!(
            "the compiler of the hookbox package is missing{place}: install the package again, or set \
             `compileInProcess` if you trust every component"
        );
        Error::new(Code::Compiler, message)
    };
    let program = compiler.ok_or_else(|| missing(String::new()))?;
    if program.is_file() { Ok(program) } else { Err(missing(format!(" ({})", program.display()))) }
}
