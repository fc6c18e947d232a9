//! The hooks of one configuration. Each is loaded together with the hook set, or when an event first needs it.

use std::sync::{Arc, OnceLock};

use hookbox_protocol::{Dialect, FailurePolicy, authority::Authority};
use metrics::Key;
use tokio::sync::OnceCell;

use crate::{
    config::{self, CAN_USE_TOOL, Config},
    error::HookError,
    handler::{Failed, SharedHandler},
    loader::Loader,
    series::{Series, label},
};

/// A configuration and its hooks.
pub(crate) struct Hooks {
    pub(crate) config: Config,
    loader: Loader,
    entries: Vec<Entry>,
    /// The metrics of this hook set.
    pub(crate) series: Series<1>,
}

/// One hook.
pub(crate) struct Entry {
    pub(crate) hook: config::Hook,
    /// The hook's name, shared by all its reports.
    pub(crate) name: Arc<str>,
    /// The hook's label in metrics.
    pub(crate) label: Arc<str>,
    pub(crate) pointer: Arc<str>,
    pub(crate) matcher: Option<Arc<str>>,
    /// The hook's authority.
    pub(crate) bounds: Option<Authority>,
    /// The hook's metrics.
    pub(crate) series: Series<3>,
    /// The metric with its component's digest and publisher.
    pub(crate) info: OnceLock<Key>,
    handler: OnceCell<SharedHandler>,
}

impl Hooks {
    /// The hooks of the configuration, followed by the callbacks.
    pub(crate) fn new(config: Config, loader: Loader, from_code: Vec<(config::Hook, SharedHandler)>) -> Self {
        let written = config.hooks.iter().map(|hook| (hook.clone(), None));
        let made = from_code.into_iter().map(|(hook, handler)| (hook, Some(handler)));
        let all = written.chain(made).enumerate();
        let entries = all.map(|(place, (hook, handler))| Entry::new(place, hook, handler)).collect();
        Self { config, loader, entries, series: Series::default() }
    }

    pub(crate) fn dialect(&self) -> &'static dyn Dialect {
        self.config.dialect
    }

    /// The name of the tenant.
    pub(crate) fn tenant(&self) -> &str {
        self.loader.tenant().name()
    }

    /// The enabled hooks. The settings that disable hooks do not apply to the permission callback:
    /// blade-callback.md#canusetool: "Hooks and `canUseTool` are two separate systems".
    pub(crate) fn enabled(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| self.config.enabled || entry.hook.events == [CAN_USE_TOOL])
    }

    /// All hooks, including disabled ones.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The handler of a hook. Loads it if necessary.
    pub(crate) async fn handler(&self, entry: &Entry) -> Result<SharedHandler, HookError> {
        entry.handler.get_or_try_init(|| self.loader.load(&self.config, &entry.hook)).await.map(Arc::clone)
    }

    /// Loads the handler of a hook. If the hook's own policy is `ignore`, an error becomes a handler that fails.
    ///
    /// decisions.md#failures: "If its configuration says `ignore`, a hook that cannot be loaded counts as no output."
    pub(crate) async fn load(&self, entry: &Entry) -> Result<(), HookError> {
        let ignored = entry.hook.on_failure == Some(FailurePolicy::Ignore);
        match self.handler(entry).await {
            Err(error) if ignored => {
                tracing::warn!(tenant = self.tenant(), "ignored because of `onFailure`: {error}");
                // Already set only if another caller loaded it meanwhile.
                let _ = entry.handler.set(Arc::new(Failed::to_load(error.0)));
                Ok(())
            }
            loaded => loaded.map(drop),
        }
    }

    /// The loaded hooks with their handlers.
    pub(crate) fn running(&self) -> impl Iterator<Item = (&config::Hook, &SharedHandler)> {
        self.entries.iter().filter_map(|entry| Some((&entry.hook, entry.loaded()?)))
    }
}

impl Entry {
    /// The handler, if it is loaded.
    pub(crate) fn loaded(&self) -> Option<&SharedHandler> {
        self.handler.get()
    }

    fn new(place: usize, hook: config::Hook, handler: Option<SharedHandler>) -> Self {
        Self {
            name: hook.name.as_str().into(),
            label: label(place, &hook.name),
            pointer: hook.pointer.as_str().into(),
            matcher: hook.matcher_text.as_deref().map(Into::into),
            bounds: hook.bounds(),
            series: Series::default(),
            info: OnceLock::new(),
            handler: OnceCell::new_with(handler),
            hook,
        }
    }
}
