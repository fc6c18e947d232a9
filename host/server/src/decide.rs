//! One event of one tenant: in its turn, within its quota, and in time.

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
    console::Seen,
    problem::Problem,
    records::{Told, Wanted},
    tenant::Tenant,
};

/// `Hookbox-Verdict`: the outcome in a word.
pub const VERDICT: HeaderName = HeaderName::from_static("hookbox-verdict");
/// `Hookbox-Problem`: the problem that the answer is a block for.
pub const PROBLEM: HeaderName = HeaderName::from_static("hookbox-problem");

/// One event as the client sent it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its JSON.
    pub wire: Bytes,
    /// Its name, where its JSON does not carry it.
    pub name: Option<String>,
    /// The time for the answer.
    pub time: Time,
}

impl Asked {
    fn request(&self) -> Request<'_> {
        let Time { began, limit } = self.time;
        let request = Request::new(&self.wire).event_name(self.name.as_deref());
        request.received_at(began).timeout(Some(limit)).body_only()
    }
}

/// The time for an answer.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// The start of the request.
    pub began: Instant,
    /// The client's timeout.
    pub limit: Duration,
}

impl Time {
    /// The time by which the hooks have to be done, as in the library: what has not begun by then does not begin.
    pub fn deadline(self) -> tokio::time::Instant {
        later(self.began, time_for_hooks(self.limit)).into()
    }

    /// The middle between the hooks' deadline and the client's: an answer that is sent by then arrives.
    fn last(self) -> tokio::time::Instant {
        let (deadline, end) = (self.deadline(), self.end());
        deadline.max(deadline + end.saturating_duration_since(deadline) / 2)
    }

    /// The end of the client's timeout.
    fn end(self) -> tokio::time::Instant {
        later(self.began, self.limit).into()
    }
}

/// The answer to a client.
#[derive(Debug)]
pub enum Answer {
    /// The verdict of the hooks.
    Decided(Box<Response>),
    /// A block in the dialect's own words, because of a problem.
    Blocked(Problem, Box<Response>),
    /// A problem of the daemon's, or of the client's.
    Problem(Problem),
}

impl Answer {
    /// The answer that a response is. `problem`: the reason why the hooks were not asked.
    fn of(response: Response, problem: Option<Problem>) -> Self {
        let own = response.error.as_ref().map(|error| match error.kind {
            ErrorKind::Event => Problem::Event(error.message.clone()),
            _ => Problem::Unusable(error.message.clone()),
        });
        match problem.or(own) {
            None => Self::Decided(Box::new(response)),
            // The policies of the hooks may come to less than a block.
            Some(problem) if response.restricts => Self::Blocked(problem, Box::new(response)),
            Some(problem) => Self::Problem(problem),
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

/// Units of fuel that a tenant is charged for each byte of an event: about what decoding, hashing and recording it takes.
const FUEL_PER_BYTE: u64 = 10;

/// A decision, in the forms in which it is wanted.
struct Done {
    answer: Answer,
    record: Told,
    fuel: u64,
}

/// Decides on an event. A problem that keeps the hooks from being asked fails each of them, by its own policy.
pub async fn decide(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked, problem: Option<Problem>) -> Answer {
    let done = match problem {
        None => admitted(app, tenant, set, asked).await,
        Some(problem) => Err(problem),
    };
    let done = match done {
        Ok(done) => done,
        Err(problem) => in_turn(app, tenant, set, asked, Some(problem)).await,
    };
    if app.tell(&tenant.name, done.record, asked.time.last()).await.is_err() {
        let (dialect, asked, bytes) = (set.dialect(), asked.clone(), asked.wire.len());
        return app.processor.share(&tenant.name, bytes, async move { unrecorded(dialect, &asked) }).await;
    }
    done.answer
}

/// Does all work on an event in its tenant's turns, and charges the tenant for it.
async fn in_turn(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked, problem: Option<Problem>) -> Done {
    let (set, own, wanted, name) = (set.clone(), asked.clone(), app.wanted(), tenant.name.clone());
    // A refusal for want of quota adds nothing to the debt, or the tenant would never get out of it.
    let per_byte = if matches!(problem, Some(Problem::OverQuota { .. })) { 0 } else { FUEL_PER_BYTE };
    let work = async move { work(&set, &own, problem, wanted, &name).await };
    let bytes = asked.wire.len();
    let done = app.processor.share(&tenant.name, bytes, work).await;
    let reading = per_byte.saturating_mul(bytes as u64);
    tenant.usage.fuel(done.fuel.saturating_add(reading), Instant::now());
    done
}

/// Decodes, decides, records and encodes.
async fn work(set: &HookSet, asked: &Asked, problem: Option<Problem>, wanted: Wanted, tenant: &str) -> Done {
    let why = problem.as_ref().map(ToString::to_string);
    let request = match (&problem, &why) {
        (Some(Problem::TooLarge(_)), Some(why)) => asked.request().too_large(why),
        // A client that asks when the time is over learns that each hook ran out of it.
        (None | Some(Problem::Deadline(_)), _) => asked.request(),
        (Some(_), why) => asked.request().incomplete(why.as_deref()),
    };
    let response = set.decide(request).await;
    let hooks = response.verdict().into_iter().flat_map(|verdict| &verdict.hooks);
    let fuel = hooks.filter_map(HookReport::fuel).sum();
    let record = (wanted.line || wanted.page).then(|| response.record(set, &asked.wire));
    let seen = wanted.page.then(|| Seen::of(set, &response, problem.is_some()));
    let answer = Answer::of(response, problem);
    let record = wanted.tell(tenant, seen, || {
        let mut record = json!(record);
        if let (Some(problem), Some(fields)) = (answer.problem(), record.as_object_mut()) {
            fields.insert("problem".into(), problem.to_string().into());
        }
        record
    });
    Done { answer, record, fuel }
}

/// The answer where a verdict had to be recorded, and was not: a block, where the event can be blocked.
fn unrecorded(dialect: &'static dyn Dialect, asked: &Asked) -> Answer {
    let problem = Problem::Unrecorded;
    let response = Response::block(&asked.request(), Some(dialect), ErrorKind::Internal, &problem.to_string());
    Answer::of(response, Some(problem))
}

/// The answer where there are no hooks to ask. `closed`: failures block.
pub fn without_hooks(dialect: &'static dyn Dialect, closed: bool, asked: &Asked, problem: Problem) -> Answer {
    let why = problem.to_string();
    let response = Response::without_hooks(&asked.request(), Some(dialect), closed, ErrorKind::Config, &why);
    Answer::of(response, Some(problem))
}

/// Decides within the tenant's quota and in time.
///
/// # Errors
/// The problem that keeps the hooks from being asked.
async fn admitted(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked) -> Result<Done, Problem> {
    let usage = &tenant.usage;
    usage.request(Instant::now()).map_err(|(what, after)| Problem::OverQuota { what, after })?;
    let late = || Problem::Deadline(asked.time.limit);
    let deciding = async {
        let turn = app.gate.enter(&tenant.name, usage.bounds());
        let place = tokio::time::timeout_at(asked.time.deadline(), turn).await.map_err(|_| late())?;
        let _place = place.map_err(|_| Problem::Busy("too many events of this tenant wait already"))?;
        if tokio::time::Instant::now() >= asked.time.deadline() {
            return Err(late());
        }
        Ok(in_turn(app, tenant, set, asked, None).await)
    };
    tokio::select! {
        // A decision that is there is given.
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

/// The dialect's words, or nothing, and the outcome in the header.
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
