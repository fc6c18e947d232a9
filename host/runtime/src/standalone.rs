//! The shortcut for a single configuration: a [`HookSet`] with its own [`Runtime`].

use std::path::{Path, PathBuf};

use hookbox_sandbox::Profile;

use crate::{
    config::{Config, Diagnostic, Handler, Wasm},
    error::BuildError,
    hook_set::{Callback, HookSet},
    runtime::Runtime,
    tenant::Tenant,
};

impl HookSet {
    /// Starts to build a hook set with its own [`Runtime`], for one configuration, which may also contain the
    /// operator's settings.
    pub fn standalone() -> StandaloneBuilder {
        StandaloneBuilder::default()
    }
}

/// Builds a hook set with its own runtime. Needs a configuration; everything else has a default.
#[derive(Default)]
#[must_use]
pub struct StandaloneBuilder {
    config: Option<Config>,
    warnings: Vec<Diagnostic>,
    callbacks: Vec<Callback>,
    lazy: bool,
    profile: Profile,
    cache_dir: Option<PathBuf>,
    compiler: Option<PathBuf>,
}

impl StandaloneBuilder {
    /// Reads the configuration from a file.
    ///
    /// # Errors
    /// [`BuildError::Config`] with every error of the configuration.
    pub fn config_file(self, path: impl AsRef<Path>) -> Result<Self, BuildError> {
        let loaded = Config::load(path.as_ref(), None)?;
        Ok(Self { warnings: loaded.warnings, ..self.config(loaded.config) })
    }

    /// Takes a configuration that is already loaded.
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Adds a callback, after the hooks of the configuration.
    pub fn callback(mut self, callback: Callback) -> Self {
        self.callbacks.push(callback);
        self
    }

    /// Loads each hook when an event first needs it.
    pub fn lazy(mut self) -> Self {
        self.lazy = true;
        self
    }

    /// Sets the lifetime of this process. Default: [`Profile::Resident`]. With [`Profile::OneShot`], each hook is
    /// loaded when an event first needs it.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        if profile == Profile::OneShot { self.lazy() } else { self }
    }

    /// Sets the folder of precompiled components. Default: the user's cache folder.
    pub fn cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(dir.into());
        self
    }

    /// Like [`RuntimeBuilder::compiler`](crate::RuntimeBuilder::compiler), with the limits from the configuration's
    /// `compile`.
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Some(program.into());
        self
    }

    /// Builds the hook set. Loads every hook, unless [`StandaloneBuilder::lazy`] is set.
    ///
    /// # Errors
    /// Same as [`HookSet::load`] and [`RuntimeBuilder::build`](crate::RuntimeBuilder::build), and
    /// [`BuildError::NoConfig`].
    pub async fn build(self) -> Result<HookSet, BuildError> {
        let config = self.config.ok_or(BuildError::NoConfig)?;
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
        let mut runtime = sized(&config).compile_limits(config.settings.compile.clone()).profile(self.profile);
        if let Some(dir) = self.cache_dir {
            runtime = runtime.cache_dir(dir);
        }
        if let Some(program) = self.compiler {
            runtime = runtime.compiler(program);
        }
        let tenant = Tenant::of(&config);
        let mut hooks = HookSet::builder(&runtime.build()?, tenant, config);
        for callback in self.callbacks {
            hooks = hooks.callback(callback);
        }
        if self.lazy {
            hooks = hooks.lazy();
        }
        hooks.load().await
    }
}

/// A runtime whose pool fits the configuration: `maxInstances` instances, each with the highest limits of any hook.
fn sized(config: &Config) -> crate::RuntimeBuilder {
    let limits = || components(config).map(|wasm| &wasm.limits);
    let mut runtime = Runtime::builder();
    if let Some(instances) = config.settings.max_instances {
        runtime = runtime.max_instances(instances);
    }
    if let Some(mib) = limits().map(|limits| limits.memory_mib).max() {
        runtime = runtime.max_memory_mib(mib);
    }
    if let Some(elements) = limits().map(|limits| limits.table_elements).max() {
        runtime = runtime.max_table_elements(elements);
    }
    runtime
}

fn components(config: &Config) -> impl Iterator<Item = &Wasm> {
    config.hooks.iter().filter_map(|hook| match &hook.handler {
        Handler::Wasm(wasm) => Some(wasm),
        _ => None,
    })
}
