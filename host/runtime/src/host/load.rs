//! From a hook's configuration to what runs.

use std::{path::PathBuf, sync::Arc};

use super::Host;
use crate::{
    config::{self, Config},
    engine::EngineOptions,
    error::HookError,
    handler::{self, SharedHandler},
};

/// What hooks share on one host.
#[derive(Default)]
pub(crate) struct Resources {
    pub(crate) cache_dir: Option<PathBuf>,
}

impl Resources {
    pub(crate) fn engine_options(&self, config: &Config) -> EngineOptions {
        let defaults = EngineOptions::default();
        let asked = config.settings.max_instances.and_then(std::num::NonZeroU32::new);
        EngineOptions {
            max_instances: asked.unwrap_or(defaults.max_instances),
            cache_dir: self.cache_dir.clone().or_else(user_cache),
            ..defaults
        }
    }
}

/// `$XDG_CACHE_HOME/hookbox`, or `~/.cache/hookbox`.
fn user_cache() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    caches.map(|caches| caches.join("hookbox"))
}

/// Loads one hook.
pub(super) async fn load(host: &Host, hook: &config::Hook) -> Result<SharedHandler, HookError> {
    let error = |problem: String| HookError { file: host.config.file.clone(), pointer: hook.pointer.clone(), problem };
    Ok(match &hook.handler {
        config::Handler::Wasm(wasm) => {
            Arc::new(handler::Component::load(host, hook, wasm).await.map_err(|e| error(e.to_string()))?)
        }
        config::Handler::Command { command, args, dir } => Arc::new(handler::Command {
            command: command.clone(),
            args: args.clone(),
            dir: dir.clone(),
            output_limit: OUTPUT_LIMIT,
        }),
        config::Handler::Http { .. }
        | config::Handler::Prompt { .. }
        | config::Handler::Agent { .. }
        | config::Handler::Callback => {
            return Err(error("this handler is not built yet".into()));
        }
    })
}

/// Bytes of stdout or stderr of a command at most.
const OUTPUT_LIMIT: usize = 1024 * 1024;
