//! From a hook's configuration to what runs.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use hookbox_sandbox::{Compiler, EngineOptions, Permissions, permission::LlmGrant};

use super::Host;
use crate::{
    capability::{
        Capabilities,
        http::{HookHttp, HttpClient},
        llm::{HookLlm, Model},
        state::{HookState, Store},
    },
    config::{self, Config},
    error::{HookError, HookLoadError},
    folders,
    handler::{self, SharedHandler},
};

/// What hooks share on one host.
#[derive(Default)]
pub(crate) struct Resources {
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) compiler: Option<PathBuf>,
    store: OnceLock<Arc<dyn Store>>,
    model: OnceLock<Arc<dyn Model>>,
    client: OnceLock<Arc<dyn HttpClient>>,
}

impl Resources {
    /// What a hook's permissions give it, ready to use.
    pub(crate) fn capabilities(
        &self,
        config: &Config,
        permissions: &Permissions,
    ) -> Result<Capabilities, HookLoadError> {
        let mut granted = Capabilities::default();
        if let Some(grant) = &permissions.state {
            let store = self.store(config)?;
            granted.state = HookState::granted(store, grant).map(|state| Arc::new(state) as _);
        }
        if !permissions.http.is_empty() {
            let http = HookHttp::granted(self.client()?, &permissions.http);
            granted.http = Some(Arc::new(http.map_err(|error| HookLoadError::Grant(error.to_string()))?));
        }
        if let Some(grant) = permissions.llm.as_ref().filter(|grant| **grant != LlmGrant::Enabled(false)) {
            granted.llm = HookLlm::granted(self.model(config)?, grant).map(|llm| Arc::new(llm) as _);
        }
        Ok(granted)
    }

    /// The store all hooks of the host share; opened with the first use.
    #[cfg(feature = "state-sqlite")]
    fn store(&self, config: &Config) -> Result<Arc<dyn Store>, HookLoadError> {
        use crate::capability::state::{SqliteStore, default_file};
        let named = config.settings.state_file.as_ref().map(PathBuf::from);
        let file = named.or_else(default_file).ok_or(HookLoadError::NoState)?;
        Ok(self.store.get_or_init(|| Arc::new(SqliteStore::new(file))).clone())
    }

    #[cfg(not(feature = "state-sqlite"))]
    fn store(&self, _: &Config) -> Result<Arc<dyn Store>, HookLoadError> {
        self.store.get().cloned().ok_or(HookLoadError::NoState)
    }

    /// The model all hooks of the host share; its key is read with the first use.
    #[cfg(feature = "llm")]
    fn model(&self, config: &Config) -> Result<Arc<dyn Model>, HookLoadError> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let settings = config.settings.llm.as_ref().ok_or(HookLoadError::NoModel)?;
        let model = Arc::new(crate::capability::llm::HttpModel::new(self.client()?, settings)?);
        Ok(self.model.get_or_init(|| model).clone())
    }

    #[cfg(not(feature = "llm"))]
    fn model(&self, _: &Config) -> Result<Arc<dyn Model>, HookLoadError> {
        self.model.get().cloned().ok_or(HookLoadError::NoModel)
    }

    /// The HTTP client all hooks of the host share.
    fn client(&self) -> Result<Arc<dyn HttpClient>, HookLoadError> {
        #[cfg(feature = "http")]
        self.client.get_or_init(|| Arc::new(crate::capability::http::ReqwestClient::default()));
        self.client.get().cloned().ok_or(HookLoadError::NoHttp)
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
    let at = |error: HookLoadError| {
        let message = format!("`{}`: {error}", hook.name);
        HookError(host.config.error_at(&hook.pointer, message, Some(error.help())))
    };
    let model = |name: &Option<String>| -> Result<Arc<dyn Model>, HookLoadError> {
        let model = host.resources.model(&host.config)?;
        model.check(name.as_deref())?;
        Ok(model)
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
            let client = host.resources.client().map_err(at)?;
            Arc::new(handler::Http { client, url: url.clone(), headers: headers.clone() })
        }
        config::Handler::Prompt { prompt, model: name } => Arc::new(handler::Prompt {
            model: model(name).map_err(at)?,
            question: prompt.clone(),
            model_name: name.clone(),
        }),
        config::Handler::Agent { prompt, model: name, max_turns } => Arc::new(handler::Agent {
            model: model(name).map_err(at)?,
            prompt: prompt.clone(),
            model_name: name.clone(),
            max_turns: *max_turns,
        }),
        config::Handler::Withheld { why, help } => {
            return Err(at(HookLoadError::Withheld { why: why.clone(), help: help.clone() }));
        }
        config::Handler::Callback => return Err(at(HookLoadError::Callback)),
    })
}

/// Bytes of stdout or stderr of a command at most.
const OUTPUT_LIMIT: usize = 1024 * 1024;
