//! The response to one event: everything that a front end prints.

mod detail;
mod error;

use std::{borrow::Cow, time::Instant};

use hookbox_protocol::{
    Cause, Dialect, Event, Failure, FailurePolicy, Fallback, authority::express, dialect::ConfigShape,
    failure::failed_output,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use detail::Detail;
pub use error::{ErrorKind, ResponseError};

use crate::{
    config::Config,
    record::{Record, Report},
    request::Request,
    verdict::{Verdict, text_of},
};

/// The response to one event, also after a failure. A front end prints it and decides nothing:
///
/// 1. Write [`Response::stdout`] to stdout, or send it as the body. If that fails, write [`Response::undelivered`] to
///    stderr and exit with code 2. Without it, report the write error.
/// 2. Write [`Response::stderr`] to stderr, before any other output there.
/// 3. Exit with [`Response::exit_code`].
///
/// It can be sent to another process: its JSON has the [`Report`] in place of the [`Verdict`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is independent")]
pub struct Response {
    /// The text for the client, without a final newline. Empty: no output.
    pub stdout: String,
    /// True if [`Response::stdout`] is plain text, false if it is JSON.
    #[serde(default)]
    pub is_text: bool,
    /// The text for the client on stderr: the reason of a block, or the feedback for the model.
    #[serde(default)]
    pub stderr: Option<String>,
    /// True if the front end may write nothing but [`Response::stderr`] to stderr, because the client reads it.
    #[serde(default)]
    pub quiet: bool,
    /// The exit code: 0 on success, 2 for a block or feedback by stderr, the dialect's or hookbox's own code for an
    /// error.
    pub exit_code: u8,
    /// The outcome in one word: `allow`, `deny`, `ask`, `defer`, `skip`, `respond`, `stop`, `none` for context alone,
    /// `nothing`, or `failed` for an [error](Response::error) that does not block.
    pub outcome: Cow<'static, str>,
    /// True if the response tells the client to block.
    pub blocks: bool,
    /// True if the response changes what the client does: it blocks, asks the user, or rewrites the input.
    pub restricts: bool,
    /// The reason to block by exit code 2 and stderr if stdout cannot be written. `None`: the client may continue.
    #[serde(default)]
    pub undelivered: Option<String>,
    /// hookbox's own error, if the client gets that instead of a verdict.
    #[serde(default)]
    pub error: Option<ResponseError>,
    /// The deadline of the response: the end of the client's timeout, less a margin. `None`: unknown.
    #[serde(skip)]
    pub due: Option<Instant>,
    #[serde(rename = "report", default)]
    detail: Detail,
}

/// The reason of a block by exit code if stdout cannot be written and no other reason is known.
const UNDELIVERED: &str = "the verdict cannot be given to the client";

impl Response {
    /// The response to an event without a hook set, for example because the configuration is invalid. `dialect` is the
    /// client's dialect, if known. With `closed`, failures block.
    pub fn without_hooks(
        request: &Request<'_>,
        dialect: Option<&'static dyn Dialect>,
        closed: bool,
        kind: ErrorKind,
        message: &str,
    ) -> Self {
        if closed {
            let reason = format!("hookbox failed; blocking because of `failClosed`: {message}");
            Self::block_for(request, dialect, ResponseError::new(kind, message), reason)
        } else {
            Self::passing(dialect, ResponseError::new(kind, message), None)
        }
    }

    /// A block for the front end's own reason, or an error if the event cannot be blocked.
    pub fn block(request: &Request<'_>, dialect: Option<&'static dyn Dialect>, kind: ErrorKind, reason: &str) -> Self {
        Self::block_for(request, dialect, ResponseError::new(kind, reason), reason.to_owned())
    }

    fn block_for(
        request: &Request<'_>,
        dialect: Option<&'static dyn Dialect>,
        error: ResponseError,
        reason: String,
    ) -> Self {
        let spec = dialect.and_then(|dialect| dialect.glimpse_spec(request.event, request.name));
        // An event whose name is unknown may be one that can be blocked.
        if spec.is_none_or(|spec| spec.blockable) {
            Self::blocking(request, dialect, error, reason, None)
        } else {
            Self::passing(dialect, error, None)
        }
    }

    /// The response of another process that decides for the hooks, such as a daemon: its text and the
    /// [outcome](Response::outcome) in one word. With `closed`, failures block.
    pub fn of_words(stdout: String, is_text: bool, outcome: impl Into<String>, closed: bool) -> Self {
        let outcome = outcome.into();
        // `none` may include a rewrite, which restricts too.
        let restricts = !matches!(&*outcome, "allow" | "nothing");
        Self {
            is_text,
            blocks: matches!(&*outcome, "deny" | "skip" | "respond" | "stop"),
            restricts,
            undelivered: (restricts || closed).then(|| UNDELIVERED.to_owned()),
            outcome: outcome.into(),
            ..Self::silent(stdout)
        }
    }

    /// The response for a verdict. With `closed`, failures block.
    pub(crate) fn of_verdict(request: &Request<'_>, verdict: Verdict, dialect: &dyn Dialect, closed: bool) -> Self {
        let (stdout, is_text) = verdict.wire.as_ref().map(text_of).unwrap_or_default();
        let undelivered = if verdict.restricts() {
            Some(verdict.reason().unwrap_or(UNDELIVERED).to_owned())
        } else {
            closed.then(|| UNDELIVERED.to_owned())
        };
        let response = Self {
            is_text,
            quiet: stdout.is_empty() && dialect.reads_stderr(),
            outcome: verdict.output().word().into(),
            blocks: verdict.blocks(),
            restricts: verdict.restricts(),
            undelivered,
            ..Self::silent(stdout)
        };
        // A client that gets exit code 2 ignores JSON on stdout.
        let response = match verdict.feedback().filter(|_| !request.body_only) {
            Some(text) => {
                Self { stderr: Some(text.to_owned()), quiet: true, exit_code: 2, stdout: String::new(), ..response }
            }
            None => response,
        };
        Self { detail: Detail::Verdict(Box::new(verdict)), ..response }
    }

    /// A block because of an error, in the dialect's JSON.
    pub(crate) fn blocking(
        request: &Request<'_>,
        dialect: Option<&'static dyn Dialect>,
        error: ResponseError,
        reason: String,
        verdict: Option<Verdict>,
    ) -> Self {
        let (word, wire, fallback) = if request.body_only {
            let Some((word, wire)) = dialect.and_then(|dialect| block_in_body(dialect, request, &reason)) else {
                return Self::passing(dialect, error, verdict);
            };
            (word, wire, Fallback::block(None))
        } else {
            let said = |dialect: &dyn Dialect| dialect.fail_closed(request.event, request.name, &reason);
            let mut fallback = dialect.map_or_else(|| Fallback::block(None), said);
            ("deny", fallback.stdout.take(), fallback)
        };
        let (stdout, is_text) = wire.as_ref().map(text_of).unwrap_or_default();
        Self {
            is_text,
            stderr: fallback.stderr.then(|| reason.clone()),
            quiet: !fallback.stderr,
            exit_code: fallback.exit.unwrap_or(error.kind.exit_code()),
            outcome: word.into(),
            blocks: true,
            restricts: true,
            undelivered: Some(reason),
            error: Some(error),
            detail: Detail::of(verdict, wire),
            ..Self::silent(stdout)
        }
    }

    /// An error that does not block.
    pub(crate) fn passing(
        dialect: Option<&'static dyn Dialect>,
        error: ResponseError,
        verdict: Option<Verdict>,
    ) -> Self {
        let fallback = dialect.map_or_else(Fallback::report, Dialect::fail_open);
        let (stdout, is_text) = fallback.stdout.as_ref().map(text_of).unwrap_or_default();
        Self {
            is_text,
            quiet: !fallback.stderr,
            exit_code: fallback.exit.unwrap_or(error.kind.exit_code()),
            outcome: "failed".into(),
            error: Some(error),
            detail: Detail::of(verdict, fallback.stdout),
            ..Self::silent(stdout)
        }
    }

    /// A response with this text on stdout and nothing else.
    fn silent(stdout: String) -> Self {
        Self {
            stdout,
            is_text: false,
            stderr: None,
            quiet: false,
            exit_code: 0,
            outcome: "nothing".into(),
            blocks: false,
            restricts: false,
            undelivered: None,
            error: None,
            due: None,
            detail: Detail::None,
        }
    }

    /// [`Response::stdout`] as a JSON value. Plain text becomes a string, an empty text `null`.
    pub fn stdout_json(&self) -> Cow<'_, str> {
        match (self.stdout.is_empty(), self.is_text) {
            (true, _) => "null".into(),
            (false, true) => Value::String(self.stdout.clone()).to_string().into(),
            (false, false) => (&*self.stdout).into(),
        }
    }

    /// The verdict of the hooks. `None`: no hook ran, or the response comes from another process.
    pub fn verdict(&self) -> Option<&Verdict> {
        match &self.detail {
            Detail::Verdict(verdict) => Some(verdict),
            Detail::Report(_) | Detail::None => None,
        }
    }

    /// Each hook's part in the response, and the sentence of the specification that decided. `None`: no hook ran.
    pub fn report(&self) -> Option<Cow<'_, Report>> {
        self.detail.report()
    }

    /// Takes the report out of the response. What is left is small, also as JSON.
    pub fn take_report(&mut self) -> Option<Report> {
        std::mem::take(&mut self.detail).into_report()
    }

    /// The record of this response under the configuration of the hook set that decided. `event` is the event's JSON.
    pub fn record(&self, config: &Config, event: &[u8]) -> Record {
        match self.verdict() {
            Some(verdict) => verdict.record(config, event),
            None => Record::of_nameless(config, event, (!self.stdout.is_empty()).then(|| self.stdout.clone().into())),
        }
    }
}

/// A block of this request: the outcome in one word, and the dialect's JSON. `None`: the client takes no answer.
fn block_in_body(dialect: &dyn Dialect, request: &Request<'_>, reason: &str) -> Option<(&'static str, Option<Value>)> {
    let own = dialect.fail_closed(request.event, request.name, reason).stdout;
    // A reply to a JSON-RPC message needs its id, which the event of an invalid text does not have.
    if let Some(reply) = own.clone().filter(|_| dialect.shape() == ConfigShape::Named) {
        return Some(("deny", Some(reply)));
    }
    let event = request.decode(dialect).ok().or_else(|| request.glimpse(dialect));
    match event.or_else(|| request.possible_event(dialect)) {
        Some(event) => Some(block_of_event(dialect, &event, reason)),
        None => Some(("deny", Some(own.or_else(|| block_of_nameless(dialect, reason))?))),
    }
}

fn block_of_event(dialect: &dyn Dialect, event: &Event, reason: &str) -> (&'static str, Option<Value>) {
    let failure = Failure::new(Cause::Event, reason);
    let (mut output, _) = failed_output(dialect.spec_of(event), "hookbox", &failure, FailurePolicy::Deny);
    if output.reason.is_some() {
        output.reason = Some(reason.to_owned());
    }
    express(dialect, event, None, &mut output);
    (output.word(), dialect.encode_outcome(event, &output))
}

/// A block of an event whose name is unknown, in the form that a client's events have in common. `None` for JSON-RPC:
/// without an id, a message has no reply.
///
/// decisions.md#failures: "An event without a name is blocked in the body too".
fn block_of_nameless(dialect: &dyn Dialect, reason: &str) -> Option<Value> {
    let common = json!({ "continue": false, "stopReason": reason, "decision": "block", "reason": reason });
    (dialect.shape() != ConfigShape::Named).then_some(common)
}
