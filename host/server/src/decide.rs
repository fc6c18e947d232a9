//! Decides on one event of one tenant, within its quota and its deadline.

use std::time::{Duration, Instant};

use axum::{
    body::{Body, Bytes},
    http::{self, HeaderName, HeaderValue, header},
    response::IntoResponse,
};
use hookbox::{Dialect, ErrorKind, HookReport, HookSet, Request, Response, later, time_for_hooks};
use serde_json::json;

use crate::{
    app::App,
    console::VerdictRow,
    problem::Problem,
    records::{RecordEntry, RecordForms},
    tenant::Tenant,
};

/// `Hookbox-Verdict`: the outcome in one word.
pub const VERDICT: HeaderName = HeaderName::from_static("hookbox-verdict");
/// `Hookbox-Problem`: the problem because of which the response is a block.
pub const PROBLEM: HeaderName = HeaderName::from_static("hookbox-problem");

/// An event as the client sent it.
#[derive(Debug, Clone)]
pub struct TenantEvent {
    /// Its JSON.
    pub wire: Bytes,
    /// The event's name, if its JSON does not carry it.
    pub name: Option<String>,
    /// The time for the response.
    pub time: Time,
}

impl TenantEvent {
    fn request(&self) -> Request<'_> {
        let Time { began, limit } = self.time;
        let request = Request::new(&self.wire).event_name(self.name.as_deref());
        request.received_at(began).timeout(Some(limit)).body_only()
    }
}

/// The time for a response.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// The start of the request.
    pub began: Instant,
    /// The client's timeout.
    pub limit: Duration,
}

impl Time {
    /// The deadline of the hooks, as in the library. Work that has not started by then does not start.
    pub fn deadline(self) -> tokio::time::Instant {
        later(self.began, time_for_hooks(self.limit)).into()
    }

    /// The latest time for sending a response: halfway between the hooks' deadline and the client's timeout.
    fn last(self) -> tokio::time::Instant {
        let (deadline, end) = (self.deadline(), self.end());
        deadline.max(deadline + end.saturating_duration_since(deadline) / 2)
    }

    /// The end of the client's timeout.
    fn end(self) -> tokio::time::Instant {
        later(self.began, self.limit).into()
    }
}

/// The response to a client.
#[derive(Debug)]
pub enum Answer {
    /// The verdict of the hooks.
    Decided(Box<Response>),
    /// A block in the dialect's JSON, because of a problem.
    Blocked(Problem, Box<Response>),
    /// A problem of the daemon or of the request.
    Problem(Problem),
}

impl Answer {
    /// The answer for a response. `problem` is the reason why no hooks ran.
    fn of(response: Response, problem: Option<Problem>) -> Self {
        let own = response.error.as_ref().map(|error| match error.kind {
            ErrorKind::Event => Problem::Event(error.message.clone()),
            _ => Problem::Unusable(error.message.clone()),
        });
        match problem.or(own) {
            None => Self::Decided(Box::new(response)),
            // The failure policies of the hooks do not always block.
            Some(problem) if response.restricts => Self::Blocked(problem, Box::new(response)),
            Some(problem) => Self::Problem(problem),
        }
    }

    /// The bytes of the text that the client gets.
    pub const fn bytes(&self) -> usize {
        match self {
            Self::Decided(response) | Self::Blocked(_, response) => response.stdout.len(),
            Self::Problem(_) => 0,
        }
    }

    /// The problem, if there is one.
    pub const fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Decided(_) => None,
            Self::Blocked(problem, ..) | Self::Problem(problem) => Some(problem),
        }
    }
}

/// The fuel that a tenant is charged per byte of an event: the approximate cost of decoding, hashing and recording it.
const FUEL_PER_BYTE: u64 = 10;

/// A decision and its record.
struct Done {
    answer: Answer,
    record: RecordEntry,
    fuel: u64,
}

/// Decides on an event. With a problem that prevents the hooks from running, each fails with its own policy.
pub async fn decide(
    app: &App,
    tenant: &Tenant,
    set: &HookSet,
    asked: &TenantEvent,
    problem: Option<Problem>,
) -> Answer {
    let done = match problem {
        None => admitted(app, tenant, set, asked).await,
        Some(problem) => Err(problem),
    };
    let done = match done {
        Ok(done) => done,
        Err(problem) => in_turn(app, tenant, set, asked, Some(problem)).await,
    };
    if app.record(&tenant.name, done.record, asked.time.last()).await.is_err() {
        let (dialect, asked, bytes) = (set.dialect(), asked.clone(), asked.wire.len());
        return app
            .processor
            .share(&tenant.name, bytes, async move { lost(dialect, &asked, Problem::Unrecorded) })
            .await;
    }
    done.answer
}

/// Does the work on an event as one of its tenant's tasks, and charges the tenant for it.
async fn in_turn(app: &App, tenant: &Tenant, set: &HookSet, asked: &TenantEvent, problem: Option<Problem>) -> Done {
    let (set, own, wanted, name) = (set.clone(), asked.clone(), app.wanted(), tenant.name.clone());
    // A rejection because of the quota costs nothing. Otherwise the tenant could never pay off its debt.
    let per_byte = if matches!(problem, Some(Problem::OverQuota { .. })) { 0 } else { FUEL_PER_BYTE };
    let work = async move { work(&set, &own, problem, wanted, &name).await };
    let bytes = asked.wire.len();
    let done = app.processor.share(&tenant.name, bytes, work).await;
    let reading = per_byte.saturating_mul(bytes as u64);
    tenant.usage.fuel(done.fuel.saturating_add(reading), Instant::now());
    done
}

/// Decodes, decides, records and encodes.
async fn work(set: &HookSet, asked: &TenantEvent, problem: Option<Problem>, wanted: RecordForms, tenant: &str) -> Done {
    let why = problem.as_ref().map(ToString::to_string);
    let request = match (&problem, &why) {
        (Some(Problem::TooLarge(_)), Some(why)) => asked.request().too_large(why),
        // After the deadline, each hook fails with a timeout.
        (None | Some(Problem::Deadline(_)), _) => asked.request(),
        (Some(_), why) => asked.request().incomplete(why.as_deref()),
    };
    let response = set.decide(request).await;
    let hooks = response.verdict().into_iter().flat_map(|verdict| &verdict.hooks);
    let fuel = hooks.filter_map(HookReport::fuel).sum();
    let record = (wanted.line || wanted.page).then(|| response.record(set.config(), &asked.wire));
    let seen = wanted.page.then(|| VerdictRow::of(set, &response, problem.is_some()));
    let answer = Answer::of(response, problem);
    let record = wanted.entry(tenant, seen, || {
        let mut record = json!(record);
        if let (Some(problem), Some(fields)) = (answer.problem(), record.as_object_mut()) {
            fields.insert("problem".into(), problem.to_string().into());
        }
        record
    });
    Done { answer, record, fuel }
}

/// The response instead of a verdict that cannot be recorded or has no memory: a block, if the event can be blocked.
pub fn lost(dialect: &'static dyn Dialect, asked: &TenantEvent, problem: Problem) -> Answer {
    let response = Response::block(&asked.request(), Some(dialect), ErrorKind::Internal, &problem.to_string());
    Answer::of(response, Some(problem))
}

/// The response without a hook set. With `closed`, failures block.
pub fn without_hooks(dialect: &'static dyn Dialect, closed: bool, asked: &TenantEvent, problem: Problem) -> Answer {
    let why = problem.to_string();
    let response = Response::without_hooks(&asked.request(), Some(dialect), closed, ErrorKind::Config, &why);
    Answer::of(response, Some(problem))
}

/// Decides within the tenant's quota and before the deadline.
///
/// # Errors
/// The problem that prevents the hooks from running.
async fn admitted(app: &App, tenant: &Tenant, set: &HookSet, asked: &TenantEvent) -> Result<Done, Problem> {
    let usage = &tenant.usage;
    usage.request(Instant::now()).map_err(|(what, after)| Problem::OverQuota { what, after })?;
    let late = || Problem::Deadline(asked.time.limit);
    let deciding = async {
        let turn = app.gate.enter(&tenant.name, usage.bounds());
        let place = tokio::time::timeout_at(asked.time.deadline(), turn).await.map_err(|_| late())?;
        let _place = place.map_err(|_| Problem::Busy("the tenant's queue is full"))?;
        if tokio::time::Instant::now() >= asked.time.deadline() {
            return Err(late());
        }
        Ok(in_turn(app, tenant, set, asked, None).await)
    };
    tokio::select! {
        // A finished decision takes precedence over a timeout.
        biased;
        done = deciding => done,
        () = tokio::time::sleep_until(asked.time.end()) => Err(late()),
        () = app.ending() => Err(Problem::Draining),
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> http::Response<Body> {
        match self {
            Self::Decided(response) => body(*response),
            Self::Blocked(problem, response) => {
                let mut response = body(*response);
                response.headers_mut().insert(PROBLEM, HeaderValue::from_static(problem.name()));
                response
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// The HTTP response: the dialect's JSON or text as the body, and the outcome in the header.
fn body(response: Response) -> http::Response<Body> {
    let kind = match (response.stdout.is_empty(), response.is_text) {
        (true, _) => None,
        (false, true) => Some("text/plain; charset=utf-8"),
        (false, false) => Some("application/json"),
    };
    let outcome = HeaderValue::from_str(&response.outcome);
    let mut answer = http::Response::new(Body::from(response.stdout));
    answer.headers_mut().extend(outcome.map(|outcome| (VERDICT, outcome)));
    answer.headers_mut().extend(kind.map(|kind| (header::CONTENT_TYPE, HeaderValue::from_static(kind))));
    answer
}
