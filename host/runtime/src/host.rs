//! The embeddable host: a configuration, its hooks, and [`Host::dispatch`].

mod builder;
mod load;

use hookbox_protocol::{Dialect, Event, EventContext, EventKind, ToolCall, event::Input};
use hookbox_sandbox::{Engine, LoadError, Permissions};
use tokio::sync::OnceCell;

pub use builder::HostBuilder;

use crate::{
    capability::Capabilities,
    config::{self, Config, Diagnostic, Severity},
    error::{DispatchError, HookError, HookLoadError},
    handler::SharedHandler,
    pipeline,
    verdict::Verdict,
};

/// Runs the hooks of one configuration. Cheap to share behind an `Arc`; every call has a sandbox of its own.
pub struct Host {
    config: Config,
    slots: Vec<Slot>,
    engine: OnceCell<Engine>,
    resources: load::Resources,
}

/// One hook of the configuration, loaded when it is first needed (or when the host is built).
pub(crate) struct Slot {
    pub(crate) hook: config::Hook,
    handler: OnceCell<SharedHandler>,
}

impl Host {
    /// Starts to build a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The dialect of the configuration, with its profile.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.config.dialect
    }

    /// Dispatches one event: wire JSON in, verdict out.
    ///
    /// # Errors
    /// [`DispatchError`]: the input is no event. What hooks do wrong, and that they cannot be loaded, is in the verdict.
    pub async fn dispatch(&self, wire: impl AsRef<[u8]>) -> Result<Verdict, DispatchError> {
        pipeline::dispatch(self, wire.as_ref(), None).await
    }

    /// As [`Host::dispatch`], with the event's name for wires that do not carry it.
    ///
    /// # Errors
    /// As [`Host::dispatch`].
    pub async fn dispatch_as(&self, name: &str, wire: impl AsRef<[u8]>) -> Result<Verdict, DispatchError> {
        pipeline::dispatch(self, wire.as_ref(), Some(name)).await
    }

    /// Dispatches a typed event that never was on a wire.
    pub async fn dispatch_event(&self, context: EventContext, call: Option<ToolCall>, input: Input) -> Verdict {
        pipeline::dispatch_event(self, Event::new(self.dialect(), context, call, input)).await
    }

    /// Dispatches a tool call that is about to happen.
    pub async fn pre_tool_use(&self, context: EventContext, call: ToolCall) -> Verdict {
        self.dispatch_event(context, Some(call), Input::empty(EventKind::PreToolUse)).await
    }

    /// The hooks, unless the configuration turns all of them off.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|_| self.config.enabled)
    }

    /// The hook, loaded.
    pub(crate) async fn handler(&self, slot: &Slot) -> Result<SharedHandler, HookError> {
        slot.handler.get_or_try_init(|| load::load(self, &slot.hook)).await.cloned()
    }

    /// The engine, started with the first component: a configuration without components pays nothing for it.
    pub(crate) async fn engine(&self) -> Result<&Engine, LoadError> {
        self.engine.get_or_try_init(|| async { Engine::new(self.resources.engine_options(&self.config)) }).await
    }

    /// What a hook's permissions give it, ready to use.
    pub(crate) fn capabilities(&self, permissions: &Permissions) -> Result<Capabilities, HookLoadError> {
        self.resources.capabilities(&self.config, permissions)
    }

    /// Loads every hook, and tells of each that cannot be loaded, and of events that a component is configured for and
    /// does not handle.
    pub async fn check(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for slot in &self.slots {
            match self.handler(slot).await {
                Ok(handler) => found.extend(self.not_handled(&slot.hook, &handler)),
                Err(error) => found.push(error.0),
            }
        }
        found
    }

    fn not_handled(&self, hook: &config::Hook, handler: &SharedHandler) -> Vec<Diagnostic> {
        let kind = |event: &String| self.dialect().spec_by_name(event).map_or(EventKind::OtherEvent, |spec| spec.kind);
        let silent = hook.events.iter().filter(|event| !handler.handles(kind(event)));
        silent
            .map(|event| {
                let message = format!("`{}` does not handle {event}, so it is not asked about it", hook.name);
                let help = "take it out there, or build it with that event; `hookbox inspect` shows what it handles";
                let diagnostic = self.config.error_at(&hook.pointer, message, Some(help.into()));
                Diagnostic { severity: Severity::Warning, ..diagnostic }
            })
            .collect()
    }
}
