//! Selects the hooks of one event, and loads those that are not loaded yet.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use futures_util::{FutureExt, future::join_all};
use hookbox_protocol::{Cause, Dialect, Event, Failure, FailurePolicy, HookOutput, dialect::other_names};

use crate::{
    config,
    handler::{Failed, SharedHandler},
    hooks::{Entry, Hooks},
    verdict::{HookReport, Status},
};

/// The conditions under which the hooks of one event run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Conditions<'a> {
    /// The reason why the event could not be decoded. Every hook fails with it.
    pub(crate) unread: Option<&'a Failure>,
    /// The deadline of the verdict. A hook that is not done by then has timed out.
    pub(crate) due: Option<Instant>,
}

impl Conditions<'_> {
    /// The deadline for loading hooks. It reserves a tenth of the remaining time for hooks that are already loaded.
    fn load_due(&self) -> Option<Instant> {
        let left = self.due?.saturating_duration_since(Instant::now());
        self.due?.checked_sub(left / 10)
    }
}

/// A hook that is subscribed to an event, and its handler or the status why it does not run.
pub(crate) struct Selected<'a> {
    pub(crate) entry: &'a Entry,
    /// The handler, or the status why the hook does not run.
    pub(crate) decision: Result<SharedHandler, Status>,
    /// True while the handler is still to be loaded. `decision` is a failure until then.
    missing: bool,
    pub(crate) due: Option<Instant>,
}

impl<'a> Selected<'a> {
    /// The hook.
    pub(crate) fn hook(&self) -> &'a config::Hook {
        &self.entry.hook
    }

    pub(crate) fn report(&self, status: Status, counted: Box<HookOutput>) -> HookReport {
        let Entry { name, pointer, matcher, hook, .. } = self.entry;
        HookReport {
            name: Arc::clone(name),
            pointer: Arc::clone(pointer),
            matcher: matcher.clone(),
            mode: hook.mode,
            status,
            counted,
            watched: None,
            digest: None,
            publisher: None,
            unusable: None,
            may_fail: hook.on_failure == Some(FailurePolicy::Ignore),
        }
    }

    /// Returns true if the hook runs and its entry requires all hooks to run one after another.
    pub(crate) fn asks_for_sequence(&self) -> bool {
        self.decision.is_ok() && self.entry.hook.sequential
    }

    /// The report of a hook that did not run because an earlier hook ended the event.
    pub(crate) fn not_reached(self) -> HookReport {
        let status = self.decision.as_ref().err().cloned().unwrap_or(Status::NotReached);
        self.report(status, Box::default())
    }
}

/// The hooks subscribed to an event, in configuration order. Loads those that match and are not loaded yet.
pub(crate) async fn select<'a>(hooks: &'a Hooks, event: &Event, conditions: Conditions<'_>) -> Vec<Selected<'a>> {
    let spec = hooks.dialect().spec_of(event);
    let field = spec.matched.and_then(|field| event.field(field)).filter(|field| !field.is_empty());
    // Only a tool can have other names.
    let also_called = match (spec.matched, &field) {
        (Some("tool_name"), Some(tool)) => other_names(tool, hooks.dialect(), hooks.config.written),
        _ => Vec::new(),
    };
    // decisions.md#matchers: "If the event is about a tool or can be blocked, a missing field matches every pattern".
    let any = conditions.unread.is_some() || field.is_none() && (spec.blockable || spec.kind.has_tool());
    let matches = |entry: &Entry| {
        // A row without a matched field ignores matchers, as its specification says.
        spec.matched.is_none()
            || if any {
                entry.hook.matcher.may_take(field.as_deref(), &also_called)
            } else {
                entry.hook.matcher.takes(event, field.as_deref(), &also_called)
            }
    };
    let selected = hooks.enabled().filter(|entry| subscribed(&entry.hook, event, hooks.dialect())).map(|entry| {
        let decision = match (matches(entry), conditions.unread) {
            (false, _) => Some(Err(Status::NotMatched)),
            (true, Some(failure)) if !entry.hook.events.is_empty() => Some(Ok(failed(failure.clone()))),
            (true, unread) => entry.loaded().map(|handler| handler_for(entry, handler.clone(), event, unread)),
        };
        let missing = decision.is_none();
        let decision = decision.unwrap_or_else(|| Ok(failed(Failure::new(Cause::Load, "was not loaded"))));
        Selected { entry, decision, missing, due: conditions.due }
    });
    let mut selected: Vec<_> = selected.collect();
    // Usually all hooks are loaded already. The others load concurrently, so that a slow one does not delay the rest.
    if selected.iter().any(|hook| hook.missing) {
        let due = conditions.load_due();
        let loading = selected.iter_mut().filter(|hook| hook.missing).map(|hook| async move {
            hook.decision = handler_for(hook.entry, load(hooks, hook.entry, due).await, event, conditions.unread);
        });
        join_all(loading).await;
    }
    selected
}

fn failed(failure: Failure) -> SharedHandler {
    Arc::new(Failed::new(failure))
}

/// Loads the handler of a hook. A hook that cannot be loaded in time gets a handler that fails.
async fn load(hooks: &Hooks, entry: &Entry, due: Option<Instant>) -> SharedHandler {
    let loading = caught(hooks.handler(entry));
    let loaded = match due {
        None => loading.await,
        Some(due) => match tokio::time::timeout_at(due.into(), loading).await {
            Ok(loaded) => loaded,
            Err(_) => {
                return failed(Failure::new(Cause::Timeout, "it was still being loaded at the client's timeout"));
            }
        },
    };
    match loaded {
        Ok(loaded) => loaded.unwrap_or_else(|error| Arc::new(Failed::to_load(error.0))),
        Err(panicked) => failed(panicked),
    }
}

/// The handler of a hook that matches an event, or the status why it does not run.
fn handler_for(
    entry: &Entry,
    handler: SharedHandler,
    event: &Event,
    unread: Option<&Failure>,
) -> Result<SharedHandler, Status> {
    let Ok(takes) = catch_unwind(AssertUnwindSafe(|| handler.handles(event.kind()))) else {
        return Ok(failed(panicked()));
    };
    match (takes, unread) {
        (true, None) => Ok(handler),
        (true, Some(failure)) => Ok(failed(failure.clone())),
        // A hook without configured events handles the events that its component exports. This is not one of them.
        (false, _) if entry.hook.events.is_empty() => Err(Status::NotHandled),
        (false, _) => {
            let why = format!("it is configured for {}, but does not handle it", event.name);
            Ok(failed(Failure::new(Cause::Load, why)))
        }
    }
}

fn subscribed(hook: &config::Hook, event: &Event, dialect: &dyn Dialect) -> bool {
    hook.events.contains(&event.name) || hook.may_be_asked(dialect.spec_of(event), dialect)
}

/// Turns a panic into a failure of the hook. Handlers, stores, clients and models may be the embedder's code, and a bug
/// in one hook must not discard the outputs of the others.
pub(crate) async fn caught<T>(hook: impl Future<Output = T>) -> Result<T, Failure> {
    AssertUnwindSafe(hook).catch_unwind().await.map_err(|_| panicked())
}

pub(crate) fn panicked() -> Failure {
    Failure::new(Cause::Guest, "panicked")
}
