//! The runtime of a process.

use std::{
    future::Future,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hookbox::{SqliteStore, config::Loaded};

use crate::{
    check::Finding,
    error::{Code, Error},
    executor::{Executor, Task},
    hook::HostHook,
    hook_set::HookSet,
    options::{LoadOptions, RuntimeOptions, Source},
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

    /// Loads a configuration with every hook, and the hooks of the host's own language after them.
    ///
    /// # Errors
    /// [`Code::Config`], [`Code::Hook`], [`Code::Options`], [`Code::Closed`]
    pub async fn load(&self, source: Source, options: LoadOptions, hooks: Vec<HostHook>) -> Result<HookSet, Error> {
        self.is_open()?;
        let Loaded { config, warnings } = options.read(&source, &self.shared.runtime)?;
        HookSet::load(self, config, options, hooks, &warnings).await
    }

    /// Finds everything that is wrong with a configuration and its hooks.
    ///
    /// # Errors
    /// [`Code::Options`], [`Code::Closed`]
    pub async fn check(&self, source: Source, options: LoadOptions) -> Result<Vec<Finding>, Error> {
        self.is_open()?;
        let Loaded { config, warnings } = match options.read(&source, &self.shared.runtime) {
            Ok(loaded) => loaded,
            Err(error) => return findings_of(error),
        };
        let mut found: Vec<Finding> = warnings.iter().chain(&config.self_writes()).map(Finding::from).collect();
        let lazy = LoadOptions { lazy: true, ..options };
        match HookSet::load(self, config, lazy, Vec::new(), &[]).await {
            Ok(hooks) => found.extend(hooks.check().await?),
            Err(error) => found.extend(findings_of(error)?),
        }
        Ok(found)
    }

    /// Refuses new calls. Decisions in progress are finished.
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

/// The compiler, where it is.
fn found(compiler: Option<PathBuf>) -> Result<PathBuf, Error> {
    let missing = |place: String| {
        let message = format!(
            "the compiler of the hookbox package is missing{place}: install the package again, or set \
             `compileInProcess` where every component is trusted"
        );
        Error::new(Code::Compiler, message)
    };
    let program = compiler.ok_or_else(|| missing(String::new()))?;
    if program.is_file() { Ok(program) } else { Err(missing(format!(" ({})", program.display()))) }
}

/// The findings in an error about a configuration; any other error.
fn findings_of(error: Error) -> Result<Vec<Finding>, Error> {
    if error.findings.is_empty() { Err(error) } else { Ok(error.findings) }
}
