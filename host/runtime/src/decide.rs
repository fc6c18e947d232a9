//! Decides on one event and always returns a response, never an error. This is the only place that settles hookbox's
//! own failures, for every front end. Each dialect's response to a failure is in
//! [`Dialect::fail_closed`](hookbox_protocol::Dialect::fail_closed) and
//! [`Dialect::fail_open`](hookbox_protocol::Dialect::fail_open).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use hookbox_protocol::{Cause, Failure, FailurePolicy};

use crate::{
    config::Mode,
    count::policy,
    hooks::Hooks,
    pipeline::dispatch_event,
    request::Request,
    response::{ErrorKind, Response, ResponseError},
    select::Conditions,
    verdict::Verdict,
};

/// Runs the hooks on one event. A panic, also one in an embedder's dialect or handler, counts as a failure of any hook.
pub(crate) async fn decide(hooks: &Hooks, request: &Request<'_>) -> Response {
    let decided = AssertUnwindSafe(decide_event(hooks, request)).catch_unwind().await;
    decided.unwrap_or_else(|_| {
        let failure = Failure::new(Cause::Event, "internal error (see above)");
        nameless(hooks, request, ErrorKind::Internal, &failure)
    })
}

async fn decide_event(hooks: &Hooks, request: &Request<'_>) -> Response {
    let dialect = hooks.dialect();
    let (mut event, unread) = match request.decode(dialect) {
        Ok(event) => (event, None),
        Err(failure) => match request.glimpse(dialect) {
            Some(event) => (event, Some(failure)),
            None => return nameless(hooks, request, ErrorKind::Event, &failure),
        },
    };
    let conditions = Conditions { unread: unread.as_ref(), due: request.due(hooks, &event) };
    let verdict = dispatch_event(hooks, &mut event, conditions).await;
    let mut response = settle(hooks, request, verdict, conditions.unread);
    response.due = conditions.due;
    response
}

/// The response for a verdict. `unread` is the reason why the event could not be decoded. All hooks then count as
/// failed.
fn settle(hooks: &Hooks, request: &Request<'_>, verdict: Verdict, unread: Option<&Failure>) -> Response {
    let missing: Vec<String> = verdict.missing().map(ToString::to_string).collect();
    let (kind, message) = match unread {
        Some(failure) => (ErrorKind::Event, failure.to_string()),
        None => (ErrorKind::Config, missing.join("\n")),
    };
    let (dialect, closed) = (hooks.dialect(), hooks.config.fail_closed);
    let failed = unread.is_some() || !missing.is_empty();
    let blocks = verdict.blocks() && !verdict.usable_restrict() && (unread.is_some() || closed);
    if failed && blocks {
        let reason = verdict.reason().unwrap_or(&message).to_owned();
        Response::blocking(request, Some(dialect), ResponseError::new(kind, message), reason, Some(verdict))
    } else if failed && !verdict.restricts() {
        // The hooks that ran restrict nothing. A plain "allow" would claim that all hooks had run.
        Response::passing(Some(dialect), ResponseError::new(kind, message), Some(verdict))
    } else {
        Response::of_verdict(request, verdict, dialect, closed)
    }
}

/// The response to an event whose name is unknown. Every hook of the configuration could be subscribed to it.
fn nameless(hooks: &Hooks, request: &Request<'_>, kind: ErrorKind, failure: &Failure) -> Response {
    let dialect = hooks.dialect();
    if hooks.config.fail_closed {
        return Response::without_hooks(request, Some(dialect), true, kind, &failure.to_string());
    }
    let deciding = hooks.enabled().map(|entry| &entry.hook);
    let mut deciding = deciding.filter(|hook| hook.mode == Mode::Enforce && !hook.observe_only);
    let blocking = deciding.find(|hook| {
        let mut specs = dialect.specs().iter().filter(|spec| spec.blockable && hook.may_be_asked(spec, dialect));
        specs.any(|spec| policy(hooks, spec, hook, failure.cause) != FailurePolicy::Ignore)
    });
    let error = ResponseError::new(kind, failure.to_string());
    match blocking {
        Some(hook) => {
            let reason = format!("hook {} failed ({failure})", hook.name);
            Response::blocking(request, Some(dialect), error, reason, None)
        }
        None => Response::passing(Some(dialect), error, None),
    }
}
