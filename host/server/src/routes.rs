//! The HTTP routes for clients.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{
        Path, Query, Request, State,
        rejection::{PathRejection, QueryRejection},
    },
    http::{Extensions, HeaderMap, HeaderName, Response, header, request::Parts},
    response::IntoResponse,
    routing::post,
};
use futures_util::{StreamExt, stream};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tracing::{Instrument, Span};

use crate::{
    app::App,
    bodies::{BodyPermit, Bounds, FREE, Read},
    console::outcome::ResponseFacts,
    decide::{Answer, TenantEvent, Time, decide, lost, without_hooks},
    idle::{Admitted, TrackedConnection},
    problem::Problem,
    tenant::{Quotas, Tenant},
    tenants::{Standing, TenantView},
    token::Token,
    traces,
};

/// `Hookbox-Timeout`: the client's timeout in seconds.
const TIMEOUT: HeaderName = HeaderName::from_static("hookbox-timeout");
/// The delay of a rejection.
pub const PACE: Duration = Duration::from_millis(50);
/// The maximum number of events in a batch.
const BATCH: usize = 1000;
/// The maximum number of concurrent events of a batch, within the tenant's own limits.
const BATCH_AT_ONCE: usize = 16;

/// The routes for clients.
pub fn api() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/{tenant}/{dialect}", post(one))
        .route("/v1/{tenant}/{dialect}/batch", post(batch))
        .method_not_allowed_fallback(method)
        .fallback(|app, request| refuse(app, request, Problem::Unknown(PATH.into())))
}

/// The detail of a 404 for a path.
const PATH: &str = "unknown path: POST to /v1/TENANT/DIALECT";

/// Rejects a request whose path has no such method.
pub async fn method(app: State<Arc<App>>, request: Request) -> Response<Body> {
    refuse(app, request, Problem::Method).await
}

/// Rejects a request for which there is no tenant, and counts it.
pub async fn refuse(State(app): State<Arc<App>>, request: Request, problem: Problem) -> Response<Body> {
    let began = Instant::now();
    let (Parts { headers, extensions, .. }, _) = request.into_parts();
    pace(&app, &headers, &extensions, began).await;
    let answer = Answer::Problem(problem);
    answered("", began, &answer);
    answer.into_response()
}

/// The query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryParameters {
    /// The event's name, if its JSON does not carry it.
    event: Option<String>,
}

/// The tenant and the dialect in the path. An error if it is not UTF-8.
type Names = Result<Path<(String, String)>, PathRejection>;

async fn one(
    State(app): State<Arc<App>>,
    names: Names,
    query: Result<Query<QueryParameters>, QueryRejection>,
    request: Request,
) -> Response<Body> {
    let Ok(Path(names)) = names else {
        return refuse(State(app), request, Problem::Unknown(PATH.into())).await;
    };
    let began = Instant::now();
    let (Parts { headers, extensions, .. }, body) = request.into_parts();
    let found = Hooks::find(&app, &names, &headers, began).await;
    let mut held = None;
    let answer = match &found {
        Err(problem) => Answer::Problem(problem.clone()),
        Ok(hooks) => {
            let deciding = async {
                let (name, wrong) = match query {
                    Ok(Query(QueryParameters { event })) => (event, hooks.wrong.clone()),
                    Err(error) => (None, Some(Problem::Request(error.body_text()))),
                };
                let admitted = hooks.admit(&extensions);
                let Read { wire, problem, held: mut own } = hooks.body(&app, body, admitted.as_ref()).await;
                let hooks = hooks.settled(&app).await?;
                let asked = TenantEvent { wire, name, time: hooks.time };
                let answer = hooks.decide(&app, &asked, problem.or(wrong)).await;
                let answer = if answer.bytes() > FREE {
                    let (answer, bytes) = hooks.room(&asked, answer, &mut own);
                    own.shrink_to(bytes);
                    held = Some(own);
                    answer
                } else {
                    answer
                };
                Ok(answer)
            };
            let decided = deciding.instrument(hooks.span(&headers)).await;
            decided.unwrap_or_else(|problem| hooks.undecided(&app, problem))
        }
    };
    if answer.problem().is_some_and(Problem::is_refusal) {
        pace(&app, &headers, &extensions, began).await;
    }
    answered(Hooks::label(&found), began, &answer);
    let response = answer.into_response();
    match held {
        Some(held) => held.until_sent(response),
        None => response,
    }
}

async fn batch(State(app): State<Arc<App>>, names: Names, request: Request) -> Response<Body> {
    let Ok(Path(names)) = names else {
        return refuse(State(app), request, Problem::Unknown(PATH.into())).await;
    };
    let began = Instant::now();
    let (Parts { headers, extensions, .. }, body) = request.into_parts();
    let refused = AtomicBool::new(false);
    let found = Hooks::find(&app, &names, &headers, began).await;
    let tenant = Hooks::label(&found);
    let answers = match &found {
        Err(problem) => Err(problem.clone()),
        Ok(hooks) => {
            let deciding = async {
                let admitted = hooks.admit(&extensions);
                let Read { wire, problem, held: mut own } = hooks.body(&app, body, admitted.as_ref()).await;
                problem.map_or(Ok(()), Err)?;
                let bytes = wire.len();
                let split = app.processor.share(tenant, bytes, async move { events(&wire) });
                let hooks = hooks.settled(&app).await?;
                let decided = split.await?.into_iter().map(|wire| {
                    let (app, hooks, refused) = (&app, &hooks, &refused);
                    async move {
                        let asked = TenantEvent { wire, name: None, time: hooks.time };
                        let answer = hooks.decide(app, &asked, hooks.wrong.clone()).await;
                        refused.fetch_or(answer.problem().is_some_and(Problem::is_refusal), Ordering::Relaxed);
                        answered(tenant, began, &answer);
                        (asked, answer)
                    }
                });
                let (mut text, mut decided) = (String::from("["), pin!(stream::iter(decided).buffered(BATCH_AT_ONCE)));
                while let Some((asked, answer)) = decided.next().await {
                    let (answer, _) = hooks.room(&asked, answer, &mut own);
                    text.push_str(if text.len() == 1 { "" } else { "," });
                    text.push_str(&in_batch(answer));
                }
                text.push(']');
                own.shrink_to(text.len());
                Ok((text, own))
            };
            let decided: Result<_, Problem> = deciding.instrument(hooks.span(&headers)).await;
            decided.inspect_err(|problem| drop(hooks.undecided(&app, problem.clone())))
        }
    };
    if refused.into_inner() || answers.as_ref().is_err_and(Problem::is_refusal) {
        pace(&app, &headers, &extensions, began).await;
    }
    match answers {
        Ok((text, held)) => held.until_sent(([(header::CONTENT_TYPE, "application/json")], text).into_response()),
        Err(problem) => {
            let answer = Answer::Problem(problem);
            answered(tenant, began, &answer);
            answer.into_response()
        }
    }
}

/// Delays a rejection slightly, but not beyond the deadline. Otherwise a client that retries immediately would use the
/// CPU time of others.
async fn pace(app: &App, headers: &HeaderMap, extensions: &Extensions, began: Instant) {
    // The connection may be closed during the delay.
    if let Some(line) = extensions.get::<Arc<TrackedConnection>>() {
        line.done();
    }
    let limit = asked_time(headers).ok().flatten().unwrap_or(app.settings.timeout);
    let _ = tokio::time::timeout_at(Time { began, limit }.deadline(), tokio::time::sleep(PACE)).await;
}

/// The events of a batch, as slices of the body. Stops at the first event beyond the limit.
fn events(body: &Bytes) -> Result<Vec<Bytes>, Problem> {
    struct Events<'a>(&'a Bytes);
    impl<'de> Visitor<'de> for Events<'_> {
        type Value = Vec<Bytes>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut events = Vec::new();
            while let Some(event) = array.next_element::<&RawValue>()? {
                if events.len() == BATCH {
                    return Err(de::Error::custom(format!("a batch has at most {BATCH} events")));
                }
                events.push(self.0.slice_ref(event.get().as_bytes()));
            }
            Ok(events)
        }
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let events = reader.deserialize_seq(Events(body)).and_then(|events| reader.end().map(|()| events));
    events.map_err(|error| Problem::Request(format!("a batch is an array of events: {error}")))
}

/// The answer to one event of a batch: the status, the body and the headers that it would have alone, as JSON.
fn in_batch(answer: Answer) -> String {
    match answer {
        Answer::Decided(response) => {
            format!(r#"{{"status":200,"verdict":"{}","output":{}}}"#, response.outcome, response.stdout_json())
        }
        Answer::Blocked(problem, response) => {
            let (word, output, problem) = (&response.outcome, response.stdout_json(), problem.body());
            format!(r#"{{"status":200,"verdict":"{word}","output":{output},"problem":{problem}}}"#)
        }
        Answer::Problem(problem) => {
            format!(r#"{{"status":{},"problem":{}}}"#, problem.status().as_u16(), problem.body())
        }
    }
}

/// Counts a response. `tenant` is empty unless the request was authenticated, because the path of other requests is
/// untrusted text.
fn answered(tenant: &str, began: Instant, answer: &Answer) {
    let outcome = answer.problem().map_or("judged", Problem::name);
    let tenant = tenant.to_owned();
    metrics::histogram!("hookbox_request_seconds", "tenant" => tenant.clone()).record(began.elapsed().as_secs_f64());
    metrics::counter!("hookbox_requests_total", "tenant" => tenant, "outcome" => outcome).increment(1);
}

/// The tenant and the hooks of a request, and its deadline.
#[derive(Clone)]
struct Hooks {
    owner: String,
    token: Option<Token>,
    tenant: Option<Arc<Tenant>>,
    dialect: &'static dyn hookbox::Dialect,
    name: String,
    /// The reason why there are no hooks, and true if it blocks. `None` while they are loading.
    broken: Option<(Problem, bool)>,
    /// The tenant's name, if the request is authenticated.
    admitted: Option<String>,
    /// A header that is invalid. The event is still read, because the tenant may fail closed.
    wrong: Option<Problem>,
    time: Time,
}

impl Hooks {
    /// Finds the tenant, and authenticates the client.
    async fn find(app: &App, names: &(String, String), headers: &HeaderMap, began: Instant) -> Result<Self, Problem> {
        let (owner, dialect) = names;
        let given = asked_time(headers);
        let most = app.settings.timeout;
        let limit = given.as_ref().map_or(most, |given| given.map_or(most, |given| given.min(most)));
        let time = Time { began, limit };
        let found = tokio::time::timeout_at(time.deadline(), app.tenants.known(owner)).await;
        let found = found.map_err(|_| Problem::Busy("the tenants are still being read"))?;
        let token = bearer(headers).map(Token::of);
        let Some(found) = found else {
            // A client without a valid token must not learn that the tenant does not exist.
            return Err(admit(app, token.as_ref(), &[]).err().unwrap_or(Problem::Token));
        };
        let Some(known) = hookbox::dialect::by_name(dialect) else {
            return Err(admit(app, token.as_ref(), &found.tokens).err().unwrap_or_else(|| unknown(dialect)));
        };
        let (owner, name) = (owner.clone(), dialect.clone());
        let wrong = given.err();
        let (tenant, broken, admitted) = (None, None, None);
        let mut this = Self { owner, token, tenant, dialect: known, name, broken, admitted, wrong, time };
        this.take(app, &found)?;
        Ok(this)
    }

    /// Waits for the hooks to load, until the deadline.
    async fn settled(&self, app: &App) -> Result<Self, Problem> {
        let mut this = self.clone();
        if this.tenant.is_some() || this.broken.is_some() {
            return Ok(this);
        }
        let settled = tokio::time::timeout_at(this.time.deadline(), app.tenants.settled(&this.owner)).await;
        // Uses the latest state, because a token may have been revoked meanwhile.
        let found = settled.unwrap_or_else(|_| app.tenants.find(&this.owner)).ok_or(Problem::Token)?;
        this.take(app, &found)?;
        if this.tenant.is_none() && this.broken.is_none() {
            this.fail(app, &found, Problem::Busy("the tenant is still being loaded"))?;
        }
        Ok(this)
    }

    /// Applies the current state of the tenant, if the client's token is valid.
    fn take(&mut self, app: &App, found: &TenantView) -> Result<(), Problem> {
        match &found.standing {
            // Its tokens are unknown so far, so the client cannot be rejected yet.
            Standing::Loading if found.tokens.is_empty() => {}
            Standing::Loading => self.open(app, found)?,
            Standing::Serving(tenant) => {
                self.open(app, found)?;
                if !tenant.sets.contains_key(&self.name) {
                    return Err(unknown(&self.name));
                }
                self.time.limit = self.time.limit.min(tenant.timeout.unwrap_or(self.time.limit));
                self.tenant = Some(Arc::clone(tenant));
            }
            Standing::Broken(reason) => self.fail(app, found, Problem::Unusable(reason.to_string()))?,
            Standing::Gone(_) => self.fail(app, found, Problem::Unusable("the tenant's file was removed".into()))?,
        }
        Ok(())
    }

    /// Records that there are no hooks. This blocks if the tenant fails closed.
    fn fail(&mut self, app: &App, found: &TenantView, problem: Problem) -> Result<(), Problem> {
        self.broken = Some(match self.open(app, found) {
            Ok(()) => (problem, found.closed),
            // If the tokens are unknown too, a block does no harm and reveals nothing.
            Err(_) if found.closed && found.tokens.is_empty() => {
                (Problem::Unusable("the daemon's log has the reason".into()), true)
            }
            Err(refused) => return Err(refused),
        });
        Ok(())
    }

    /// Checks the token, and marks the request as authenticated.
    fn open(&mut self, app: &App, found: &TenantView) -> Result<(), Problem> {
        admit(app, self.token.as_ref(), &found.tokens)?;
        self.admitted = Some(self.owner.clone());
        Ok(())
    }

    /// The tenant as a label in metrics and traces.
    fn label(found: &Result<Self, Problem>) -> &str {
        found.as_ref().ok().and_then(|hooks| hooks.admitted.as_deref()).unwrap_or_default()
    }

    /// The span of the request in the client's trace. An unauthenticated request has none.
    fn span(&self, headers: &HeaderMap) -> Span {
        let Some(tenant) = &self.admitted else { return Span::none() };
        let span = tracing::debug_span!("request", tenant, dialect = self.name);
        if !span.is_disabled() {
            traces::follow(&span, headers);
        }
        span
    }

    /// Marks the connection as authenticated.
    fn admit(&self, extensions: &Extensions) -> Option<Admitted> {
        Some(extensions.get::<Arc<TrackedConnection>>()?.admit(self.admitted.as_deref()?))
    }

    /// Reads the body within the memory budget.
    async fn body(&self, app: &App, body: Body, line: Option<&Admitted>) -> Read {
        let bounds = Bounds { max_kib: app.settings.max_body_kib, tenant: self.memory(), by: self.time.deadline() };
        app.bodies.read(self.admitted.as_deref().unwrap_or_default(), body, bounds, line).await
    }

    /// Takes memory for an answer until it is sent. Without any, the answer is a block instead. Returns it with the bytes
    /// that it takes.
    fn room(&self, asked: &TenantEvent, answer: Answer, held: &mut BodyPermit) -> (Answer, usize) {
        let bytes = answer.bytes();
        if bytes == 0 || held.grow(bytes, self.memory()) {
            return (answer, bytes);
        }
        (lost(self.dialect, asked, Problem::Busy("unread responses use all the memory for them")), 0)
    }

    /// The memory for bodies and answers, in bytes.
    fn memory(&self) -> usize {
        match (&self.tenant, &self.admitted) {
            (Some(tenant), _) => tenant.usage.body_memory(),
            (None, Some(_)) => Quotas::default().body_memory(),
            // Events of unauthenticated clients are blocked by name. Only one large body of them is read at a time.
            (None, None) => 0,
        }
    }

    /// Decides on an event, unless there is a problem already.
    async fn decide(&self, app: &App, asked: &TenantEvent, problem: Option<Problem>) -> Answer {
        let began = Instant::now();
        let answer = self.answer(app, asked, problem).await;
        self.count(app, &answer, began.elapsed());
        answer
    }

    /// Counts an answer for the console. Requests without a valid token are not counted.
    fn count(&self, app: &App, answer: &Answer, took: Duration) {
        if let (Some(console), Some(tenant)) = (&app.console, &self.admitted) {
            console.count(tenant, &ResponseFacts::of(answer, took));
        }
    }

    /// The answer to a request whose events were not read.
    fn undecided(&self, app: &App, problem: Problem) -> Answer {
        let answer = Answer::Problem(problem);
        self.count(app, &answer, Duration::ZERO);
        answer
    }

    async fn answer(&self, app: &App, asked: &TenantEvent, problem: Option<Problem>) -> Answer {
        if let Some(tenant) = &self.tenant
            && let Some(set) = tenant.sets.get(&self.name)
        {
            return decide(app, tenant, set, asked, problem).await;
        }
        let (reason, closed) = self.broken.clone().unwrap_or((Problem::Busy("the tenant is still being loaded"), true));
        let (dialect, own, bytes) = (self.dialect, asked.clone(), asked.wire.len());
        let work = async move { without_hooks(dialect, closed, &own, problem.unwrap_or(reason)) };
        app.processor.share(self.admitted.as_deref().unwrap_or_default(), bytes, work).await
    }
}

fn unknown(dialect: &str) -> Problem {
    Problem::Unknown(format!("the tenant has no hooks of the dialect `{}`", hookbox::shorten(dialect, 40)))
}

fn admit(app: &App, token: Option<&Token>, tokens: &[Token]) -> Result<(), Problem> {
    let token = token.ok_or(Problem::Token)?;
    if token.is_among(tokens) {
        return Ok(());
    }
    Err(if app.tenants.knows(token) { Problem::Foreign } else { Problem::Token })
}

/// The bearer token of a request.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The client's timeout in the header.
fn asked_time(headers: &HeaderMap) -> Result<Option<Duration>, Problem> {
    let Some(given) = headers.get(TIMEOUT) else { return Ok(None) };
    let seconds = given.to_str().ok().and_then(|text| text.trim().parse().ok());
    seconds
        .and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .map(Some)
        .ok_or_else(|| Problem::Request("`Hookbox-Timeout` is a number of seconds, more than 0".into()))
}
