//! One event of one tenant: in turn, within what it may use, and answered in time.

use std::time::{Duration, Instant};

use axum::{
    body::{Body, Bytes},
    http::{HeaderName, HeaderValue, Response, header},
    response::IntoResponse,
};
use hookbox::{Dialect, Fault, HookSet, Judged, later, time_for_hooks};
use serde_json::{Value, json};

use crate::{
    app::App,
    closed,
    problem::Problem,
    records::{Told, Wanted},
    tenant::Tenant,
};

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
    Judged(Said),
    /// A block in the dialect's own words, for a failure of ours.
    Blocked(Problem, Said),
    /// A failure of ours, or of the client's.
    Problem(Problem),
}

/// A verdict in a dialect's words.
#[derive(Debug)]
pub enum Words {
    /// It says nothing.
    None,
    /// Plain text.
    Text(String),
    /// The text of a JSON value.
    Json(String),
}

/// A verdict as a client gets it.
#[derive(Debug)]
pub struct Said {
    /// In a word.
    pub word: &'static str,
    /// In the dialect's words.
    pub body: Words,
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

/// Units of fuel that a tenant is charged for each byte of an event: about what decoding, hashing and recording it takes.
const FUEL_PER_BYTE: u64 = 10;

/// An event that was judged, in the forms in which it is wanted.
struct Done {
    answer: Answer,
    record: Told,
    fuel: u64,
}

/// Judges an event. What keeps the hooks from being asked fails each of them, by its own policy.
pub async fn judge(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked, problem: Option<Problem>) -> Answer {
    let done = match problem {
        None => judged(app, tenant, set, asked).await,
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

/// Decodes, judges, records and encodes.
async fn work(set: &HookSet, asked: &Asked, problem: Option<Problem>, wanted: Wanted, tenant: &str) -> Done {
    let why = problem.as_ref().map(ToString::to_string);
    let own = asked.of_library();
    // A client that asks when the time is over learns that each hook ran out of it.
    let own = match (&problem, &why) {
        (Some(Problem::TooLarge(_)), Some(why)) => own.too_large(why),
        (None | Some(Problem::Deadline(_)), _) => own,
        (Some(_), why) => own.unread(why.as_deref()),
    };
    let judged = set.judge(&own).await;
    let fuel = judged.verdict.iter().flat_map(|verdict| &verdict.hooks).filter_map(hookbox::HookReport::fuel).sum();
    let record = (wanted.line || wanted.page).then(|| judged.record(set, &asked.wire));
    let answer = settle(set.dialect(), asked, judged, problem);
    let record = wanted.tell(tenant, || {
        let mut record = json!(record);
        if let (Some(problem), Some(fields)) = (answer.problem(), record.as_object_mut()) {
            fields.insert("problem".into(), problem.to_string().into());
        }
        record
    });
    Done { answer, record, fuel }
}

/// The answer where a verdict had to be recorded, and was not: a block, where the event can be blocked.
fn unrecorded(dialect: &dyn Dialect, asked: &Asked) -> Answer {
    let event = closed::event(dialect, &asked.wire, asked.name.as_deref());
    match event.filter(|event| dialect.spec_of(event).blockable) {
        Some(event) => {
            let (word, wire) = closed::block(dialect, &event, &Problem::Unrecorded.to_string());
            Answer::Blocked(Problem::Unrecorded, Said::new(word, wire.as_ref()))
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
        (None, Some(verdict), None) => Answer::Judged(Said::new(verdict.output().word(), verdict.wire.as_ref())),
        // The hooks' own policies say something less than a block, or a hook that could be asked did.
        (None, Some(verdict), Some(problem)) if verdict.restricts() => {
            Answer::Blocked(problem, Said::new(verdict.output().word(), verdict.wire.as_ref()))
        }
        (None, _, problem) => Answer::Problem(problem.unwrap_or(Problem::Event("it is not an event".into()))),
        (Some(failed), _, problem) => {
            let problem = problem.unwrap_or_else(|| ours(failed.fault, &failed.message));
            // An exit code, by which some dialects block, nobody here would see.
            match closed::event(dialect, &asked.wire, asked.name.as_deref()).filter(|_| failed.blocks) {
                Some(event) => {
                    let (word, wire) = closed::block(dialect, &event, &failed.message);
                    Answer::Blocked(problem, Said::new(word, wire.as_ref()))
                }
                None => Answer::Problem(problem),
            }
        }
    }
}

async fn judged(app: &App, tenant: &Tenant, set: &HookSet, asked: &Asked) -> Result<Done, Problem> {
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
        Ok(in_turn(app, tenant, set, asked, None).await)
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
            Self::Judged(said) => said.into_response(),
            Self::Blocked(problem, said) => {
                let mut response = said.into_response();
                response.headers_mut().insert(PROBLEM, HeaderValue::from_static(problem.name()));
                response
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

impl Said {
    fn new(word: &'static str, wire: Option<&Value>) -> Self {
        let body = match wire {
            None => Words::None,
            Some(Value::String(text)) => Words::Text(text.clone()),
            Some(wire) => Words::Json(wire.to_string()),
        };
        Self { word, body }
    }

    /// The dialect's words as a JSON value.
    pub fn json(&self) -> String {
        match &self.body {
            Words::None => "null".into(),
            Words::Text(text) => Value::String(text.clone()).to_string(),
            Words::Json(json) => json.clone(),
        }
    }
}

impl IntoResponse for Said {
    /// The dialect's words, or nothing, and in a word the verdict.
    fn into_response(self) -> Response<Body> {
        let (kind, body) = match self.body {
            Words::None => (None, String::new()),
            Words::Text(text) => (Some("text/plain; charset=utf-8"), text),
            Words::Json(json) => (Some("application/json"), json),
        };
        let mut response = Response::new(Body::from(body));
        response.headers_mut().insert(VERDICT, HeaderValue::from_static(self.word));
        if let Some(kind) = kind {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        response
    }
}
