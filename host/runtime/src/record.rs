//! Provenance: the decision on an event, the hooks that made it, and the output.

use std::borrow::Cow;

use hookbox_protocol::Note;
use hookbox_sandbox::sha256;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::{
    clock::unix_ms,
    config::{Config, Mode},
    verdict::{HookReport, Status, Verdict},
};

/// The version of [`Record`]. It changes when a field is removed or changes its meaning, but not when one is added.
pub const RECORD_VERSION: u32 = 1;

/// The record of one verdict. Of the event's content it has the name, the tool, the hooks' reasons and the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Record {
    /// [`RECORD_VERSION`]
    pub version: u32,
    /// Unix time in milliseconds.
    pub at: i64,
    /// The event's name as the client wrote it. Empty if unknown.
    pub event: String,
    /// The tool's name, for events about a tool.
    pub tool: Option<String>,
    /// The dialect and profile.
    pub dialect: Cow<'static, str>,
    /// SHA-256 of the event's wire JSON, in hexadecimal.
    pub event_digest: String,
    /// SHA-256 of the configuration, in hexadecimal.
    pub config_digest: String,
    /// Each hook's part.
    pub hooks: Vec<HookRecord>,
    /// The outcome of all hooks in one word, `failed` if no hook could be called.
    pub verdict: Cow<'static, str>,
    /// The outcome if monitor-mode hooks were enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_be: Option<Cow<'static, str>>,
    /// The sentence of the specification that decided.
    pub clause: Cow<'static, str>,
    /// The index in `hooks` of the hook that decided. A hook in monitor mode never decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<usize>,
    /// The reason of the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The JSON for the client.
    pub output: Option<Value>,
}

/// One hook's part in a [`Record`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HookRecord {
    /// The hook's name.
    pub hook: String,
    /// The hook's JSON pointer in the configuration.
    pub pointer: String,
    /// The mode, if it is `monitor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The hook's decision or status, in a word or two.
    pub verdict: Cow<'static, str>,
    /// The run time in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_us: Option<u64>,
    /// Fuel that the hook used. Only for components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// SHA-256 of the component, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component_digest: Option<String>,
    /// The publisher of the component, if their signature was verified: `key:sha256:…` or an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// The reason of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cause of the failure, as a word. [`HookRecord::message`] describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cow<'static, str>>,
    /// The message of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The decision that the failure counted as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_as: Option<Cow<'static, str>>,
    /// The parts of the hook's output that were removed or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<NoteRecord>>,
}

/// A note in a [`Record`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NoteRecord {
    /// The kind of note: `dropped`, `degraded` or `warning`.
    pub kind: Cow<'static, str>,
    /// The note's text.
    pub text: String,
}

/// The parts of a [`Verdict`] for programs that display it. It can be sent to another process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// The event's name as the client wrote it.
    pub event: String,
    /// The tool's name, for events about a tool.
    pub tool: Option<String>,
    /// The dialect and profile.
    pub dialect: Cow<'static, str>,
    /// Each hook's part, in configuration order.
    pub hooks: Vec<HookRecord>,
    /// The outcome of all hooks, in one word.
    pub verdict: Cow<'static, str>,
    /// The reason of the decision.
    pub reason: Option<String>,
    /// The outcome if monitor-mode hooks were enforced, in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_be: Option<Cow<'static, str>>,
    /// The sentence of the specification that decided.
    pub clause: Cow<'static, str>,
    /// Parts of the outcome that were dropped or changed.
    pub notes: Vec<NoteRecord>,
    /// The JSON for the client.
    pub output: Option<Value>,
}

impl Record {
    /// The record of an event for which no hook could be called. `output` is the response to the client.
    pub(crate) fn of_nameless(config: &Config, event: &[u8], output: Option<Value>) -> Self {
        Self {
            version: RECORD_VERSION,
            at: unix_ms(),
            event: String::new(),
            tool: None,
            dialect: config.dialect.name().into(),
            event_digest: sha256(event),
            config_digest: config.digest.clone(),
            hooks: Vec::new(),
            verdict: "failed".into(),
            would_be: None,
            clause: "".into(),
            decided_by: None,
            reason: None,
            output,
        }
    }
}

impl Verdict {
    /// The parts of this verdict, for programs that display it.
    pub fn report(&self) -> Report {
        Report {
            event: self.event.clone(),
            tool: self.tool.clone(),
            dialect: self.dialect.into(),
            hooks: self.hooks.iter().map(HookReport::record).collect(),
            verdict: self.outcome.output.word().into(),
            reason: self.outcome.output.reason.clone(),
            would_be: self.would_be.as_ref().map(|outcome| outcome.output.word().into()),
            clause: self.outcome.clause.into(),
            notes: self.outcome.notes.iter().map(|(_, note)| note.into()).collect(),
            output: self.wire.clone(),
        }
    }

    /// The record of this verdict under its configuration. `event` is the event's JSON.
    pub fn record(&self, config: &Config, event: &[u8]) -> Record {
        Record {
            version: RECORD_VERSION,
            at: unix_ms(),
            event: self.event.clone(),
            tool: self.tool.clone(),
            dialect: self.dialect.into(),
            event_digest: sha256(event),
            config_digest: config.digest.clone(),
            hooks: self.hooks.iter().map(HookReport::record).collect(),
            verdict: self.outcome.output.word().into(),
            would_be: self.would_be.as_ref().map(|outcome| outcome.output.word().into()),
            clause: self.outcome.clause.into(),
            decided_by: self.decider(),
            reason: self.reason().map(str::to_owned),
            output: self.wire.clone(),
        }
    }
}

/// Serializes the verdict as its [`Report`].
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

impl HookReport {
    /// The record of this hook.
    pub fn record(&self) -> HookRecord {
        let run = self.run();
        let failure = run.and_then(|run| run.result.as_ref().err());
        let output = run.and_then(|run| run.result.as_ref().ok());
        HookRecord {
            hook: self.name.to_string(),
            pointer: self.pointer.to_string(),
            mode: (self.mode == Mode::Monitor).then_some(self.mode),
            verdict: self.word().into(),
            time_us: run.map(|run| u64::try_from(run.time.as_micros()).unwrap_or(u64::MAX)),
            fuel: run.and_then(|run| run.fuel),
            component_digest: run.and_then(|_| self.digest.as_deref().map(str::to_owned)),
            publisher: run.and_then(|_| self.publisher.as_deref().map(str::to_owned)),
            reason: output.and_then(|output| output.reason.clone()),
            cause: failure.map(|failure| failure.cause.word().into()),
            message: failure.map(|failure| failure.message.clone()),
            counted_as: failure.map(|_| self.counted.word().into()),
            notes: run.map(|run| run.notes.iter().map(NoteRecord::from).collect()),
        }
    }

    /// The hook's decision or status, in a word or two.
    pub fn word(&self) -> &'static str {
        match &self.status {
            Status::Ran(run) => run.result.as_ref().map_or("failed", |output| output.word()),
            Status::NotMatched => "not matched",
            Status::NotHandled => "not handled",
            Status::NotReached => "not reached",
        }
    }
}

impl From<&Note> for NoteRecord {
    fn from(note: &Note) -> Self {
        Self { kind: note.kind.word().into(), text: note.text.clone() }
    }
}
