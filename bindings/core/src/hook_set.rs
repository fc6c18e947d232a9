//! A loaded configuration, which decides on events.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hookbox::{
    Config, ErrorKind, Response,
    config::{Diagnostic, Loaded, misnamed},
};
use serde_json::Value;

use crate::{
    error::{Code, Error},
    finding::Finding,
    hook::HostHook,
    options::{LoadOptions, Source},
    runtime::Runtime,
};

/// The hooks of one configuration and those of the host. Cheap to clone.
#[derive(Clone)]
pub struct HookSet {
    runtime: Runtime,
    hooks: hookbox::HookSet,
    about: Arc<About>,
}

/// Facts that do not change after loading.
struct About {
    warnings: Vec<Finding>,
    events: Vec<String>,
    has_host_hooks: bool,
    closed: AtomicBool,
}

/// Facts about one event in addition to its JSON.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The event's name, for dialects whose JSON does not carry it.
    pub event_name: Option<String>,
    /// The client's timeout. Default: the configuration's.
    pub timeout: Option<Duration>,
    /// True if the client sees only the text, and neither stderr nor an exit code. A block is then always in the text.
    pub body_only: bool,
}

impl HookSet {
    /// Loads a configuration with all its hooks, and the hooks of the host after them.
    ///
    /// # Errors
    /// [`Code::Config`], [`Code::Hook`], [`Code::Options`], [`Code::Closed`]
    pub async fn load(
        runtime: &Runtime,
        source: Source,
        options: LoadOptions,
        hooks: Vec<HostHook>,
    ) -> Result<Self, Error> {
        runtime.is_open()?;
        let Loaded { config, warnings, .. } = options.read(&source, runtime.inner())?;
        Self::of_config(runtime, config, options, hooks, &warnings).await
    }

    pub(crate) async fn of_config(
        runtime: &Runtime,
        config: Config,
        options: LoadOptions,
        hooks: Vec<HostHook>,
        warnings: &[Diagnostic],
    ) -> Result<Self, Error> {
        let dialect = config.dialect;
        if let Some(wrong) = hooks.iter().find_map(|hook| misnamed(dialect, hook.event())) {
            let message = format!("{} has no event `{}`: did you mean `{}`?", dialect.name(), wrong.name, wrong.near);
            return Err(Error::new(Code::Options, message));
        }
        let about = About {
            warnings: warnings.iter().map(Finding::from).collect(),
            events: events(&config, &hooks),
            has_host_hooks: !hooks.is_empty(),
            closed: AtomicBool::new(false),
        };
        let lazy = options.lazy;
        let tenant = options.tenant(&config);
        let mut builder = hookbox::HookSet::builder(runtime.inner(), tenant, config);
        for hook in hooks {
            builder = builder.callback(hook.callback());
        }
        if lazy {
            builder = builder.lazy();
        }
        Ok(Self { runtime: runtime.clone(), hooks: builder.load().await?, about: Arc::new(about) })
    }

    /// The runtime of the hook set.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The dialect, with its profile.
    pub fn dialect(&self) -> &'static str {
        self.hooks.dialect().name()
    }

    /// The tenant.
    pub fn tenant(&self) -> &str {
        self.hooks.tenant()
    }

    /// Wire names of the events that have a hook, in configuration order; `canUseTool` is the permission callback. All events
    /// of the dialect if a hook names none, because its component decides then.
    pub fn events(&self) -> &[String] {
        &self.about.events
    }

    /// Warnings about the configuration.
    pub fn warnings(&self) -> &[Finding] {
        &self.about.warnings
    }

    /// Returns true if functions of the host are among the hooks.
    pub fn has_host_hooks(&self) -> bool {
        self.about.has_host_hooks
    }

    /// Decides on one event. An invalid event and failures of hooks are settled in the response.
    ///
    /// # Errors
    /// [`Code::Closed`]
    pub async fn decide(&self, event: &[u8], request: &Request) -> Result<Response, Error> {
        self.is_open()?;
        let mut asked = hookbox::Request::new(event).event_name(request.event_name.as_deref()).timeout(request.timeout);
        if request.body_only {
            asked = asked.body_only();
        }
        Ok(self.hooks.decide(asked).await)
    }

    /// Decides on one event and reports the hooks that ran, their outputs and the sentence that decided.
    ///
    /// # Errors
    /// [`Code::Event`]: the event cannot be read. [`Code::Closed`]
    pub async fn explain(&self, event: &[u8], request: &Request) -> Result<Value, Error> {
        let response = self.decide(event, request).await?;
        if let Some(error) = response.error.as_ref().filter(|error| error.kind == ErrorKind::Event) {
            return Err(Error::new(Code::Event, error.message.clone()));
        }
        let report = response.report();
        let report = report.map(serde_json::to_value).transpose();
        let report = report.map_err(|error| Error::new(Code::System, format!("cannot write the report: {error}")))?;
        report.ok_or_else(|| {
            let message = response.error.map_or_else(|| "no hook ran".to_owned(), |error| error.message);
            Error::new(Code::Event, message)
        })
    }

    /// Loads every hook, and reports each that cannot be loaded or does not handle its event.
    ///
    /// # Errors
    /// [`Code::Closed`]
    pub async fn check(&self) -> Result<Vec<Finding>, Error> {
        self.is_open()?;
        Ok(self.hooks.check().await.iter().map(Finding::from).collect())
    }

    /// Refuses later events, ends the work of its hooks, and waits at most `grace` until they have ended.
    pub async fn close(&self, grace: Duration) {
        if !self.about.closed.swap(true, Ordering::AcqRel) {
            self.hooks.close(grace).await;
        }
    }

    fn is_open(&self) -> Result<(), Error> {
        self.runtime.is_open()?;
        if self.about.closed.load(Ordering::Acquire) { Err(Error::closed("hook set")) } else { Ok(()) }
    }
}

fn events(config: &Config, hooks: &[HostHook]) -> Vec<String> {
    let enabled = |name: &&String| config.enabled || *name == "canUseTool";
    let every = config.enabled && config.hooks.iter().any(|hook| hook.events.is_empty());
    let of_dialect = every.then(|| config.dialect.specs().iter().map(|spec| spec.name.to_owned()));
    let of_config = config.hooks.iter().flat_map(|hook| &hook.events).filter(enabled).cloned();
    let of_host = hooks.iter().map(|hook| hook.event().to_owned());
    let mut events: Vec<String> = Vec::new();
    for name in of_config.chain(of_dialect.into_iter().flatten()).chain(of_host) {
        if !events.contains(&name) {
            events.push(name);
        }
    }
    events
}
