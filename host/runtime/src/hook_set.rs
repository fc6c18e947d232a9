//! One configuration with its hooks resolved: what events are dispatched to.

mod callback;
mod facts;
mod overreach;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::{Dialect, Event, EventContext, EventKind, ToolCall, event::Input};

pub use callback::Callback;
pub use facts::HookFacts;

use crate::{
    capability::http::HttpClient,
    clock::later,
    config::{Config, Diagnostic, Hook, Severity},
    decide,
    error::{BuildError, DispatchError},
    handler::SharedHandler,
    hooks::Hooks,
    loader::Loader,
    pipeline,
    request::Request,
    response::Response,
    run::Terms,
    runtime::Runtime,
    tenant::Tenant,
    verdict::Verdict,
};

/// The hooks of one configuration, ready to be asked. Cheap to clone; share it, swap it for another, drop it: with its
/// last clone goes all that only it used.
#[derive(Clone)]
pub struct HookSet {
    hooks: Arc<Hooks>,
}

/// A hook set before it is loaded: what code adds to a configuration.
#[must_use]
pub struct HookSetBuilder {
    runtime: Runtime,
    tenant: Tenant,
    config: Config,
    callbacks: Vec<Callback>,
    client: Option<Arc<dyn HttpClient>>,
    lazy: bool,
}

impl HookSet {
    /// Loads every hook of a configuration.
    ///
    /// # Errors
    /// [`BuildError::Config`] with all that exceeds the tenant's ceiling; [`BuildError::Hook`] for the first hook that
    /// cannot be loaded.
    pub async fn load(runtime: &Runtime, tenant: Tenant, config: Config) -> Result<Self, BuildError> {
        Self::builder(runtime, tenant, config).load().await
    }

    /// As [`HookSet::load`], with what code adds.
    pub fn builder(runtime: &Runtime, tenant: Tenant, config: Config) -> HookSetBuilder {
        HookSetBuilder { runtime: runtime.clone(), tenant, config, callbacks: Vec::new(), client: None, lazy: false }
    }

    /// The configuration, as it was cut to the tenant's ceiling.
    pub fn config(&self) -> &Config {
        &self.hooks.config
    }

    /// The dialect of the configuration, with its profile.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.hooks.dialect()
    }

    /// Whose hooks these are.
    pub fn tenant(&self) -> &str {
        self.hooks.tenant()
    }

    /// The labels of its hooks in metrics: a program that forgets the series of a hook set that is gone knows them by these.
    pub fn metric_labels(&self) -> impl Iterator<Item = &str> {
        self.hooks.entries().iter().map(|entry| &*entry.label)
    }

    /// Decides on one event: the entry point of every program that answers a client.
    ///
    /// Never an error. An event that cannot be read or is too large, hooks that cannot be loaded, the end of the client's
    /// timeout and panics are settled as the configuration says (`failClosed`, `onFailure`).
    ///
    /// ```no_run
    /// # async fn example(hooks: hookbox::HookSet, event_json: &[u8]) {
    /// let response = hooks.decide(hookbox::Request::new(event_json)).await;
    /// print!("{}", response.stdout);
    /// # }
    /// ```
    pub async fn decide(&self, request: Request<'_>) -> Response {
        decide::decide(&self.hooks, &request).await
    }

    /// Dispatches one event without [`HookSet::decide`]'s settling of failures: for tools that look at a verdict. A program
    /// that answers a client by it has to settle the error itself, and has no size limit and no deadline.
    ///
    /// # Errors
    /// [`DispatchError`]: the input is not an event. What hooks do wrong, and that they cannot be loaded, is in the
    /// verdict.
    pub async fn dispatch(&self, wire: impl AsRef<[u8]>) -> Result<Verdict, DispatchError> {
        pipeline::dispatch(&self.hooks, wire.as_ref(), None).await
    }

    /// As [`HookSet::dispatch`], with the event's name for wires that do not carry it.
    ///
    /// # Errors
    /// As [`HookSet::dispatch`].
    pub async fn dispatch_as(&self, name: &str, wire: impl AsRef<[u8]>) -> Result<Verdict, DispatchError> {
        pipeline::dispatch(&self.hooks, wire.as_ref(), Some(name)).await
    }

    /// Dispatches a typed event that never was on a wire.
    pub async fn dispatch_event(&self, context: EventContext, call: Option<ToolCall>, input: Input) -> Verdict {
        let mut event = Event::new(self.dialect(), context, call, input);
        pipeline::dispatch_event(&self.hooks, &mut event, Terms::default()).await
    }

    /// Dispatches a tool call that is about to happen.
    pub async fn pre_tool_use(&self, context: EventContext, call: ToolCall) -> Verdict {
        self.dispatch_event(context, Some(call), Input::empty(EventKind::PreToolUse)).await
    }

    /// Loads every hook, and tells of each that cannot be loaded, and of events that a component is configured for and
    /// does not handle.
    pub async fn check(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for entry in self.hooks.entries() {
            match self.hooks.handler(entry).await {
                Ok(handler) => found.extend(self.not_handled(&entry.hook, &handler)),
                Err(error) => found.push(error.0),
            }
        }
        found
    }

    /// Which of the hooks that are loaded cannot work now, and why: a process that ended, for example.
    pub fn health(&self) -> Vec<(&str, String)> {
        let running = self.hooks.running();
        running.filter_map(|(hook, handler)| Some((hook.name.as_str(), handler.health().err()?))).collect()
    }

    /// Ends what its hooks run, processes for example, and waits until they have ended: `grace` at most, after which they are
    /// killed. Dropping the set ends them too, without waiting. No event may come after.
    ///
    /// Returns the hooks that may have missed notifications, each with the reason.
    pub async fn close(&self, grace: Duration) -> Vec<(&str, String)> {
        let by = later(Instant::now(), grace);
        let stop =
            self.hooks.running().map(async |(hook, handler)| Some((hook.name.as_str(), handler.stop(by).await.err()?)));
        let mut missed: Vec<_> = futures_util::future::join_all(stop).await.into_iter().flatten().collect();
        // Two entries may have one process.
        missed.dedup();
        missed
    }

    fn not_handled(&self, hook: &Hook, handler: &SharedHandler) -> Vec<Diagnostic> {
        let kind = |event: &String| self.dialect().spec_by_name(event).map_or(EventKind::OtherEvent, |spec| spec.kind);
        let silent = hook.events.iter().filter(|event| !handler.handles(kind(event)));
        silent
            .map(|event| {
                let message = format!("`{}` does not handle {event}, so it counts as failed there", hook.name);
                let help = "take it out there, or build it with that event; `hookbox inspect` shows what it handles";
                let diagnostic = self.config().error_at(&hook.pointer, message, Some(help.into()));
                Diagnostic { severity: Severity::Warning, ..diagnostic }
            })
            .collect()
    }
}

impl HookSetBuilder {
    /// Adds a callback, after the hooks of the configuration.
    pub fn callback(mut self, callback: Callback) -> Self {
        self.callbacks.push(callback);
        self
    }

    /// Sends the HTTP requests of these hooks, in place of the runtime's client.
    pub fn http_client(mut self, client: impl HttpClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Loads hooks when an event first needs them, for processes that dispatch one event and end.
    pub fn lazy(mut self) -> Self {
        self.lazy = true;
        self
    }

    /// Loads the hook set.
    ///
    /// # Errors
    /// As [`HookSet::load`], and [`BuildError::Matcher`].
    pub async fn load(mut self) -> Result<HookSet, BuildError> {
        if let Some(ceiling) = self.tenant.bound() {
            ceiling.bound(&mut self.config, self.tenant.name())?;
        }
        let (config, number) = (&self.config, 1..);
        let callbacks = number.zip(self.callbacks).map(|(number, callback)| callback.resolve(config, number));
        let callbacks = callbacks.collect::<Result<_, _>>()?;
        let hooks = Hooks::new(self.config, Loader::new(self.runtime, self.tenant, self.client), callbacks);
        if !self.lazy {
            for entry in hooks.entries() {
                hooks.handler(entry).await?;
            }
        }
        Ok(HookSet { hooks: Arc::new(hooks) })
    }
}

impl std::fmt::Debug for HookSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookSet").field("tenant", &self.tenant()).field("config", self.config()).finish()
    }
}
