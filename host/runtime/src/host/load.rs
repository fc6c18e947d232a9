//! From a hook's configuration to what runs.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use super::Host;
use crate::{
    capability::{
        Capabilities,
        http::HookHttp,
        llm::{HookLlm, HttpModel},
        state::{HookState, SqliteStore, default_file},
    },
    compiler::Compiler,
    config::{
        self, Config,
        types::{LlmGrant, Permissions},
    },
    engine::EngineOptions,
    error::{HookError, LoadError},
    folders,
    handler::{self, SharedHandler},
};

/// What hooks share on one host.
#[derive(Default)]
pub(crate) struct Resources {
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) compiler: Option<PathBuf>,
    store: OnceLock<Arc<SqliteStore>>,
    model: OnceLock<Arc<HttpModel>>,
}

impl Resources {
    /// What a hook's permissions give it, ready to use.
    pub(crate) fn capabilities(&self, config: &Config, permissions: &Permissions) -> Result<Capabilities, LoadError> {
        let mut granted = Capabilities::default();
        if let Some(grant) = &permissions.state {
            let store = self.store(config)?;
            granted.state = HookState::granted(store, grant).map(|state| Arc::new(state) as _);
        }
        granted.http = HookHttp::granted(&permissions.http)
            .map_err(|error| LoadError::Grant(error.to_string()))?
            .map(|http| Arc::new(http) as _);
        if let Some(grant) = permissions.llm.as_ref().filter(|grant| **grant != LlmGrant::Enabled(false)) {
            granted.llm = HookLlm::granted(self.model(config)?, grant).map(|llm| Arc::new(llm) as _);
        }
        Ok(granted)
    }

    /// The store all hooks of the host share; opened with the first use.
    fn store(&self, config: &Config) -> Result<Arc<SqliteStore>, LoadError> {
        let file = config
            .settings
            .state_file
            .as_ref()
            .map(PathBuf::from)
            .or_else(default_file)
            .ok_or(LoadError::NoStateFile)?;
        Ok(self.store.get_or_init(|| Arc::new(SqliteStore::new(file))).clone())
    }

    /// The model all hooks of the host share; its key is read with the first use.
    fn model(&self, config: &Config) -> Result<Arc<HttpModel>, LoadError> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let model = Arc::new(HttpModel::new(config.settings.llm.as_ref().ok_or(LoadError::NoModel)?)?);
        Ok(self.model.get_or_init(|| model).clone())
    }

    /// A pool as large as the configuration needs it: its `maxInstances` places, each for the most generous limits.
    pub(crate) fn engine_options(&self, config: &Config) -> EngineOptions {
        let defaults = EngineOptions::default();
        let asked = config.settings.max_instances.and_then(std::num::NonZeroU32::new);
        let limits = || {
            config.hooks.iter().filter_map(|hook| match &hook.handler {
                config::Handler::Wasm(wasm) => Some(&wasm.limits),
                _ => None,
            })
        };
        let memory = limits().map(|limits| limits.memory_mib).max();
        let tables = limits().map(|limits| limits.table_elements).max();
        EngineOptions {
            max_instances: asked.unwrap_or(defaults.max_instances),
            max_memory_mib: memory.unwrap_or(defaults.max_memory_mib),
            max_table_elements: tables.unwrap_or(defaults.max_table_elements),
            cache_dir: self.cache_dir.clone().or_else(|| folders::user("XDG_CACHE_HOME", ".cache")),
            compiler: self.compiler.clone().map(|program| {
                let limits = config.settings.compile.clone();
                Compiler { program, limits }
            }),
        }
    }
}

/// Loads one hook.
pub(super) async fn load(host: &Host, hook: &config::Hook) -> Result<SharedHandler, HookError> {
    let at = |error: LoadError| {
        let message = format!("`{}`: {error}", hook.name);
        HookError(host.config.error_at(&hook.pointer, message, Some(error.help())))
    };
    let judge = |prompt: &String, model_name: &Option<String>, max_turns| {
        let model = host.resources.model(&host.config)?;
        model.name(model_name.as_deref())?;
        Ok(Arc::new(handler::Judge { model, prompt: prompt.clone(), model_name: model_name.clone(), max_turns }))
    };
    Ok(match &hook.handler {
        config::Handler::Wasm(wasm) => Arc::new(handler::Component::load(host, wasm).await.map_err(at)?),
        config::Handler::Command { command, args, dir } => Arc::new(handler::Command {
            line: command.clone(),
            args: args.clone(),
            dir: dir.clone(),
            output_limit: OUTPUT_LIMIT,
        }),
        config::Handler::Http { url, headers } => {
            Arc::new(handler::Http { url: url.clone(), headers: headers.clone() })
        }
        config::Handler::Prompt { prompt, model } => judge(prompt, model, None).map_err(at)?,
        config::Handler::Agent { prompt, model, max_turns } => judge(prompt, model, Some(*max_turns)).map_err(at)?,
        config::Handler::Withheld { why, help } => {
            let message = format!("`{}` is not run: {why}", hook.name);
            return Err(HookError(host.config.error_at(&hook.pointer, message, Some(help.clone()))));
        }
        config::Handler::Callback => {
            let message = format!("`{}` is a callback, which only code can add", hook.name);
            return Err(HookError(host.config.error_at(&hook.pointer, message, None)));
        }
    })
}

/// Bytes of stdout or stderr of a command at most.
const OUTPUT_LIMIT: usize = 1024 * 1024;
