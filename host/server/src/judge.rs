//! One event of one tenant: in turn, within what it may use, and answered in time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::{
    body::{Body, Bytes},
    http::{HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use hookbox::{Dialect, HookSet, RECORD_VERSION, Verdict};
use serde_json::{Value, json};

use crate::{app::App, closed, problem::Problem, tenant::Tenant};

/// `Hookbox-Verdict`: what all hooks came to, in a word.
pub const VERDICT: HeaderName = HeaderName::from_static("hookbox-verdict");
/// `Hookbox-Problem`: which failure of ours the answer is a block for.
pub const PROBLEM: HeaderName = HeaderName::from_static("hookbox-problem");

/// One event as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its JSON.
    pub wire: Bytes,
    /// Its name, where its JSON does not carry it.
    pub name: Option<String>,
    /// When the request began, and how long it may take.
    pub time: Time,
}

/// When an answer is due.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// When the request began.
    pub began: Instant,
    /// How long it may take.
    pub limit: Duration,
}

impl Time {
    /// When it is over.
    pub fn deadline(self) -> tokio::time::Instant {
        (self.began + self.limit).into()
    }
}

/// What a client is answered.
#[derive(Debug)]
pub enum Answer {
    /// What the hooks came to.
    Judged(Box<Verdict>),
    /// A block in the dialect's own words, for a failure of ours.
    Blocked(Problem, Option<Value>),
    /// A failure of ours, or of the client's.
    Problem(Problem),
}

/// Judges an event.
pub async fn judge(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked) -> Answer {
    let answer = match verdict(app, tenant, set, asked).await {
        Ok(verdict) => Answer::Judged(Box::new(verdict)),
        Err(problem) => refuse(set.dialect(), set.config().fail_closed, &asked.wire, asked.name.as_deref(), problem),
    };
    app.tell(&tenant.name, || match &answer {
        Answer::Judged(verdict) => json!(verdict.record(set, &asked.wire)),
        Answer::Blocked(problem, output) => failed(set.dialect(), problem, "block", output.as_ref()),
        Answer::Problem(problem) => failed(set.dialect(), problem, "failed", None),
    });
    answer
}

/// What a failure comes to: a block where failures block, and where the event can be blocked.
pub fn refuse(dialect: &dyn Dialect, closed: bool, wire: &[u8], name: Option<&str>, problem: Problem) -> Answer {
    match closed.then(|| closed::blockable(dialect, wire, name)).flatten() {
        Some(event) => {
            let wire = closed::block(dialect, &event, &problem.to_string());
            Answer::Blocked(problem, wire)
        }
        None => Answer::Problem(problem),
    }
}

/// A record where there is no verdict.
fn failed(dialect: &dyn Dialect, problem: &Problem, word: &str, output: Option<&Value>) -> Value {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    json!({
        "version": RECORD_VERSION, "at": u64::try_from(at).unwrap_or_default(), "event": "", "tool": null,
        "dialect": dialect.name(), "hooks": [], "verdict": word, "problem": problem.to_string(), "output": output,
    })
}

async fn verdict(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked) -> Result<Verdict, Problem> {
    let usage = &tenant.usage;
    usage.request(Instant::now()).map_err(|(what, after)| Problem::OverQuota { what, after })?;
    let judging = async {
        let place = app.gate.enter(&tenant.name, usage.bounds()).await;
        let _place = place.map_err(|_| Problem::Busy("too many events of this tenant wait already"))?;
        let verdict = match &asked.name {
            Some(name) => set.dispatch_as(name, &asked.wire).await,
            None => set.dispatch(&asked.wire).await,
        };
        let verdict = verdict.map_err(|error| Problem::Event(error.to_string()))?;
        let fuel = verdict.hooks.iter().filter_map(hookbox::HookReport::fuel).sum();
        usage.fuel(fuel, Instant::now());
        Ok(verdict)
    };
    tokio::select! {
        // What is there is told.
        biased;
        judged = judging => judged,
        () = tokio::time::sleep_until(asked.time.deadline()) => Err(Problem::Deadline(asked.time.limit)),
        () = app.ending() => Err(Problem::Draining),
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response<Body> {
        match self {
            Self::Judged(verdict) => {
                let mut response = told(verdict.wire.as_ref());
                response.headers_mut().insert(VERDICT, HeaderValue::from_static(verdict.output().word()));
                response
            }
            Self::Blocked(problem, wire) => {
                let mut response = told(wire.as_ref());
                response.headers_mut().insert(PROBLEM, HeaderValue::from_static(problem.name()));
                response
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// What the dialect says, or nothing.
fn told(wire: Option<&Value>) -> Response<Body> {
    let (kind, body) = match wire {
        None => (None, String::new()),
        Some(Value::String(text)) => (Some("text/plain; charset=utf-8"), text.clone()),
        Some(wire) => (Some("application/json"), wire.to_string()),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::OK;
    if let Some(kind) = kind {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}
