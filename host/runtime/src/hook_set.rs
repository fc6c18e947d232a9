//! A configuration with its hooks resolved. Events are dispatched to it.

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
    runtime::Runtime,
    select::Conditions,
    tenant::Tenant,
    verdict::Verdict,
};

/// The hooks of one configuration, ready to decide on events. Cheap to clone, share and replace. Dropping the last
/// clone releases everything that only this hook set used.
#[derive(Clone)]
pub struct HookSet {
    hooks: Arc<Hooks>,
}

/// A hook set before it is loaded. Adds to the configuration what can only be given in code, such as callbacks.
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
    /// [`BuildError::Config`] lists every setting that exceeds the tenant's ceiling. [`BuildError::Hook`] names the
    /// first hook that cannot be loaded. A hook with `onFailure: ignore` that cannot be loaded is no error: it counts as
    /// one without output.
    pub async fn load(runtime: &Runtime, tenant: Tenant, config: Config) -> Result<Self, BuildError> {
        Self::builder(runtime, tenant, config).load().await
    }

    /// Starts to build a hook set that needs more than a configuration, such as callbacks or a custom HTTP client.
    pub fn builder(runtime: &Runtime, tenant: Tenant, config: Config) -> HookSetBuilder {
        HookSetBuilder { runtime: runtime.clone(), tenant, config, callbacks: Vec::new(), client: None, lazy: false }
    }

    /// The configuration, bounded by the tenant's ceiling.
    pub fn config(&self) -> &Config {
        &self.hooks.config
    }

    /// The dialect of the configuration, with its profile.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.hooks.dialect()
    }

    /// The name of the tenant that owns these hooks.
    pub fn tenant(&self) -> &str {
        self.hooks.tenant()
    }

    /// The labels of these hooks in metrics, with the digests of their components as far as they are loaded. A program
    /// removes the time series of a dropped hook set by these labels.
    pub fn metric_labels(&self) -> impl Iterator<Item = (&str, Option<Arc<str>>)> {
        self.hooks.entries().iter().map(|entry| (&*entry.label, entry.loaded().and_then(|handler| handler.digest())))
    }

    /// Decides on one event. Every program that answers a client calls this method.
    ///
    /// Never returns an error. `failClosed` and `onFailure` of the configuration settle every failure: an event that is
    /// invalid or too large, hooks that cannot be loaded, the end of the client's timeout, and panics.
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

    /// Dispatches one event and does not settle failures as [`HookSet::decide`] does. Made for tools that inspect
    /// verdicts. A program that answers a client with the verdict has to handle the error itself. There is no size
    /// limit or deadline.
    ///
    /// # Errors
    /// [`DispatchError`] if the input is not a valid event. Errors of hooks, also when loading them, are in the
    /// verdict.
    pub async fn dispatch(&self, wire: impl AsRef<[u8]>) -> Result<Verdict, DispatchError> {
        pipeline::dispatch(&self.hooks, wire.as_ref(), None).await
    }

    /// Like [`HookSet::dispatch`], with the event's name for clients whose JSON does not carry it.
    ///
    /// # Errors
    /// Same as [`HookSet::dispatch`].
    pub async fn dispatch_as(&self, name: &str, wire: impl AsRef<[u8]>) -> Result<Verdict, DispatchError> {
        pipeline::dispatch(&self.hooks, wire.as_ref(), Some(name)).await
    }

    /// Dispatches a typed event that was built in code.
    pub async fn dispatch_event(&self, context: EventContext, call: Option<ToolCall>, input: Input) -> Verdict {
        let mut event = Event::new(self.dialect(), context, call, input);
        pipeline::dispatch_event(&self.hooks, &mut event, Conditions::default()).await
    }

    /// Dispatches a tool call that is about to happen.
    pub async fn pre_tool_use(&self, context: EventContext, call: ToolCall) -> Verdict {
        self.dispatch_event(context, Some(call), Input::empty(EventKind::PreToolUse)).await
    }

    /// Loads every hook. Reports each hook that cannot be loaded, and each configured event that a component does not
    /// handle.
    pub async fn check(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for entry in self.hooks.entries() {
            match self.hooks.handler(entry).await {
                Ok(handler) => match handler.unusable() {
                    Some(unusable) => found.push(unusable.clone()),
                    None => found.extend(self.not_handled(&entry.hook, &handler)),
                },
                Err(error) => found.push(error.0),
            }
        }
        found
    }

    /// The loaded hooks that cannot work now, each with the reason, such as a process that ended.
    pub fn health(&self) -> Vec<(&str, String)> {
        let running = self.hooks.running();
        running.filter_map(|(hook, handler)| Some((hook.name.as_str(), handler.health().err()?))).collect()
    }

    /// Stops what the hooks run, such as processes, and waits for it to end. Kills what still runs after `grace`. No
    /// event may be dispatched afterwards. Dropping the hook set also stops its processes, but does not wait for them.
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
                let help =
                    "remove it there, or build it with that event; `hookbox inspect` shows the events that it handles";
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

    /// Sets the HTTP client of these hooks. It overrides the runtime's client.
    pub fn http_client(mut self, client: impl HttpClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Loads each hook when an event first needs it. Made for processes that dispatch one event and end.
    pub fn lazy(mut self) -> Self {
        self.lazy = true;
        self
    }

    /// Loads the hook set.
    ///
    /// # Errors
    /// Same as [`HookSet::load`], and [`BuildError::Matcher`] for an invalid matcher of a callback.
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
                hooks.load(entry).await?;
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
