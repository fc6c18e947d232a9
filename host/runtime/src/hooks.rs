//! The hooks of one configuration, each loaded when the set is, or when it is first needed.

use std::sync::Arc;

use hookbox_protocol::{Dialect, authority::Authority};
use tokio::sync::OnceCell;

use crate::{
    config::{self, CAN_USE_TOOL, Config},
    error::HookError,
    handler::SharedHandler,
    loader::Loader,
    series::{Series, label},
};

/// A configuration whose hooks can be called.
pub(crate) struct Hooks {
    pub(crate) config: Config,
    loader: Loader,
    entries: Vec<Entry>,
    /// Their metrics.
    pub(crate) series: Series<1>,
}

/// One hook.
pub(crate) struct Entry {
    pub(crate) hook: config::Hook,
    /// What each of its reports has of it.
    pub(crate) name: Arc<str>,
    /// Its name in metrics.
    pub(crate) label: Arc<str>,
    pub(crate) pointer: Arc<str>,
    pub(crate) matcher: Option<Arc<str>>,
    /// What it may decide.
    pub(crate) bounds: Option<Authority>,
    /// Its metrics.
    pub(crate) series: Series<3>,
    handler: OnceCell<SharedHandler>,
}

impl Hooks {
    /// Those of the configuration, and after them those that come from code.
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

    /// Whose they are.
    pub(crate) fn tenant(&self) -> &str {
        self.loader.tenant().name()
    }

    /// The hooks to call. Those that answer the permission callback are none: blade-callback.md#canusetool: "Hooks and
    /// `canUseTool` are two separate systems", so nothing that turns hooks off turns them off.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| self.config.enabled || entry.hook.events == [CAN_USE_TOOL])
    }

    /// All of them.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What runs for a hook.
    pub(crate) async fn handler(&self, entry: &Entry) -> Result<SharedHandler, HookError> {
        entry.handler.get_or_try_init(|| self.loader.load(&self.config, &entry.hook)).await.map(Arc::clone)
    }

    /// What runs for those that are loaded.
    pub(crate) fn running(&self) -> impl Iterator<Item = (&config::Hook, &SharedHandler)> {
        self.entries.iter().filter_map(|entry| Some((&entry.hook, entry.loaded()?)))
    }
}

impl Entry {
    /// What runs for it, where it is loaded.
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
            handler: OnceCell::new_with(handler),
            hook,
        }
    }
}
