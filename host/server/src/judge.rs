//! One event of one tenant: in turn, within what it may use, and answered in time.

use std::time::{Duration, Instant};

use axum::{
    body::{Body, Bytes},
    http::{HeaderName, HeaderValue, Response, header},
    response::IntoResponse,
};
use hookbox::{Dialect, Fault, HookSet, Judged, Verdict, later, time_for_hooks};
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

impl Asked {
    fn of_library(&self) -> hookbox::Asked<'_> {
        let Time { began, limit } = self.time;
        hookbox::Asked::new(&self.wire).named(self.name.as_deref()).since(began).within(Some(limit))
    }
}

/// When an answer is due.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// When the request began.
    pub began: Instant,
    /// How long the client waits.
    pub limit: Duration,
}

impl Time {
    /// When the hooks are to be done, as the library has it: what has not begun by then does not begin.
    pub fn deadline(self) -> tokio::time::Instant {
        later(self.began, time_for_hooks(self.limit)).into()
    }

    /// The middle between the hooks' deadline and the client's: an answer that is sent by then arrives.
    fn last(self) -> tokio::time::Instant {
        let (deadline, end) = (self.deadline(), self.end());
        deadline.max(deadline + end.saturating_duration_since(deadline) / 2)
    }

    /// When the client gives up.
    fn end(self) -> tokio::time::Instant {
        later(self.began, self.limit).into()
    }
}

/// What a client is answered.
#[derive(Debug)]
pub enum Answer {
    /// What the hooks came to.
    Judged(Box<Verdict>),
    /// A block in the dialect's own words, for a failure of ours; and in a word.
    Blocked(Problem, &'static str, Option<Value>),
    /// A failure of ours, or of the client's.
    Problem(Problem),
}

impl Answer {
    /// What was wrong, if something was.
    pub const fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Judged(_) => None,
            Self::Blocked(problem, ..) | Self::Problem(problem) => Some(problem),
        }
    }
}

/// Judges an event. What keeps the hooks from being asked fails each of them, by its own policy.
pub async fn judge(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked, problem: Option<Problem>) -> Answer {
    let judged = match problem {
        None => judged(app, tenant, set, asked).await,
        Some(problem) => Err(problem),
    };
    let (judged, problem) = match judged {
        Ok(judged) => (judged, None),
        Err(problem) => {
            let why = problem.to_string();
            let asked = asked.of_library();
            // Whoever asks when the time is over learns that each hook ran out of it.
            let asked = match problem {
                Problem::Deadline(_) => asked,
                Problem::TooLarge(_) => asked.too_large(&why),
                _ => asked.unread(Some(&why)),
            };
            (set.judge(&asked).await, Some(problem))
        }
    };
    let record = app.is_told().then(|| judged.record(set, &asked.wire));
    let answer = settle(set.dialect(), asked, judged, problem);
    if let Some(record) = record {
        let mut record = json!(record);
        if let (Answer::Blocked(problem, ..) | Answer::Problem(problem), Some(fields)) =
            (&answer, record.as_object_mut())
        {
            fields.insert("problem".into(), problem.to_string().into());
        }
        if app.tell(&tenant.name, record, asked.time.last()).await.is_err() {
            return unrecorded(set.dialect(), asked);
        }
    }
    answer
}

/// The answer where a verdict had to be recorded, and was not: a block, where the event can be blocked.
fn unrecorded(dialect: &dyn Dialect, asked: &Asked) -> Answer {
    let event = closed::event(dialect, &asked.wire, asked.name.as_deref());
    match event.filter(|event| dialect.spec_of(event).blockable) {
        Some(event) => {
            let (word, wire) = closed::block(dialect, &event, &Problem::Unrecorded.to_string());
            Answer::Blocked(Problem::Unrecorded, word, wire)
        }
        None => Answer::Problem(Problem::Unrecorded),
    }
}

/// What is told where there are no hooks to ask.
pub fn without_hooks(dialect: &'static dyn Dialect, closed: bool, asked: &Asked, problem: Problem) -> Answer {
    let judged = Judged::without_hooks(&asked.of_library(), Some(dialect), closed, Fault::Config, &problem.to_string());
    settle(dialect, asked, judged, Some(problem))
}

/// What a client is told of it. `problem`: why the hooks were not asked.
fn settle(dialect: &dyn Dialect, asked: &Asked, judged: Judged, problem: Option<Problem>) -> Answer {
    let Judged { verdict, failed, .. } = judged;
    let ours = |fault, message: &str| match fault {
        Fault::Event => Problem::Event(message.to_owned()),
        _ => Problem::Unusable(message.to_owned()),
    };
    match (failed, verdict, problem) {
        (None, Some(verdict), None) => Answer::Judged(Box::new(verdict)),
        // The hooks' own policies say something less than a block, or a hook that could be asked did.
        (None, Some(verdict), Some(problem)) if verdict.restricts() => {
            Answer::Blocked(problem, verdict.output().word(), verdict.wire)
        }
        (None, _, problem) => Answer::Problem(problem.unwrap_or(Problem::Event("it is not an event".into()))),
        (Some(failed), _, problem) => {
            let problem = problem.unwrap_or_else(|| ours(failed.fault, &failed.message));
            // An exit code, by which some dialects block, nobody here would see.
            match closed::event(dialect, &asked.wire, asked.name.as_deref()).filter(|_| failed.blocks) {
                Some(event) => {
                    let (word, wire) = closed::block(dialect, &event, &failed.message);
                    Answer::Blocked(problem, word, wire)
                }
                None => Answer::Problem(problem),
            }
        }
    }
}

async fn judged(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked) -> Result<Judged, Problem> {
    let usage = &tenant.usage;
    usage.request(Instant::now()).map_err(|(what, after)| Problem::OverQuota { what, after })?;
    let late = || Problem::Deadline(asked.time.limit);
    let judging = async {
        let turn = app.gate.enter(&tenant.name, usage.bounds());
        let place = tokio::time::timeout_at(asked.time.deadline(), turn).await.map_err(|_| late())?;
        let _place = place.map_err(|_| Problem::Busy("too many events of this tenant wait already"))?;
        if tokio::time::Instant::now() >= asked.time.deadline() {
            return Err(late());
        }
        let (set, asked) = (set.clone(), asked.clone());
        let work = async move { set.judge(&asked.of_library()).await };
        let judged = app.processor.share(&tenant.name, work).await;
        let reports = judged.verdict.iter().flat_map(|verdict| &verdict.hooks);
        usage.fuel(reports.filter_map(hookbox::HookReport::fuel).sum(), Instant::now());
        Ok(judged)
    };
    tokio::select! {
        // What is there is told.
        biased;
        judged = judging => judged,
        () = tokio::time::sleep_until(asked.time.end()) => Err(late()),
        () = app.ending() => Err(Problem::Draining),
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response<Body> {
        match self {
            Self::Judged(verdict) => told(verdict.output().word(), verdict.wire.as_ref()),
            Self::Blocked(problem, word, wire) => {
                let mut response = told(word, wire.as_ref());
                response.headers_mut().insert(PROBLEM, HeaderValue::from_static(problem.name()));
                response
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// What the dialect says, or nothing, and in a word what that comes to.
fn told(word: &'static str, wire: Option<&Value>) -> Response<Body> {
    let (kind, body) = match wire {
        None => (None, String::new()),
        Some(Value::String(text)) => (Some("text/plain; charset=utf-8"), text.clone()),
        Some(wire) => (Some("application/json"), wire.to_string()),
    };
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(VERDICT, HeaderValue::from_static(word));
    if let Some(kind) = kind {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}
