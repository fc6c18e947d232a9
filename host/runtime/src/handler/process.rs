//! The `process` handler: a hook process that speaks `PicoClaw`'s protocol, under any dialect. It starts and ends with
//! its hook set. Each event is a line of JSON-RPC.
//!
//! ```text
//! event ─tell→ request ─(by id)→ process ─→ result ─said→ hook output
//!       picoclaw                                  picoclaw
//! ```
//!
//! `docs/spec/decisions.md#processes` defines what happens if a process violates the protocol.

mod connection;
mod end;
mod log;
mod supervisor;

use std::{borrow::Cow, sync::Arc, time::Instant};

use async_trait::async_trait;
use hookbox_protocol::{
    Cause, Dialect as _, Event, EventKind, Failure, HookOutput, Note,
    command::HandlerResult,
    dialect::picoclaw::{self, DIALECT},
    json::Object,
};
use hookbox_sandbox::Run;
use serde_json::Value;

use self::{connection::Delivery, log::Log, supervisor::Supervisor};
use super::{Call, Handler};
use crate::config;

/// A process handler.
pub(crate) struct Process {
    /// True if the events are `PicoClaw`'s own. They are then passed on unchanged.
    own: bool,
    log: Arc<Log>,
    supervisor: Supervisor,
}

/// The process to start, and the parameters of its handshake.
pub(crate) struct Spec {
    /// The hook's name.
    pub(crate) name: String,
    /// The process from the configuration.
    pub(crate) process: config::Process,
    /// The modes in the handshake: the events that the process gets.
    pub(crate) modes: Vec<&'static str>,
}

impl Process {
    /// Creates a handler. Does not start the process. `dialect` is the dialect of the hook set.
    pub(crate) fn new(spec: Spec, dialect: &str) -> Self {
        let log = Arc::new(Log::new(spec.name.clone()));
        Self { own: dialect == DIALECT.name(), supervisor: Supervisor::new(spec, Arc::clone(&log)), log }
    }

    /// Translates an event to `PicoClaw`'s dialect for the process.
    fn translated<'a>(&self, event: &'a Event) -> Result<Cow<'a, Event>, Failure> {
        if self.own {
            return Ok(Cow::Borrowed(event));
        }
        let none = || Failure::new(Cause::Load, format!("hook processes do not support {}", event.name));
        picoclaw::to_request(event).map(Cow::Owned).ok_or_else(none)
    }

    async fn answer(&self, event: &Event) -> HandlerResult {
        let request = self.translated(event)?;
        if request.name == picoclaw::HELLO {
            // decisions.md#picoclaw: "hookbox itself answers `hook.hello`: hooks never see it."
            return Ok((HookOutput::default(), Vec::new()));
        }
        let line = request.raw.as_object().cloned().unwrap_or_default();
        if request.kind() == EventKind::AgentEvent {
            let note = match self.supervisor.opened()?.notify(line) {
                Delivery::Queued => None,
                Delivery::Dropped => Some(Note::dropped("the queue of the process is full: this event is dropped")),
            };
            return Ok((HookOutput::default(), note.into_iter().collect()));
        }
        let result = self.supervisor.connection().await?.ask(line).await?;
        let read = if self.own {
            DIALECT.decode_output(event, &result)
        } else {
            picoclaw::from_result(event, &request, &result)
        };
        read.map_err(|error| Failure::new(Cause::BadOutput, format!("result: {error}")))
    }
}

#[async_trait]
impl Handler for Process {
    async fn start(&self) -> Result<(), String> {
        self.supervisor.opened().map(drop).map_err(|failure| failure.message)
    }

    async fn stop(&self, by: Instant) -> Result<(), String> {
        self.supervisor.stop(by).await
    }

    fn health(&self) -> Result<(), String> {
        self.supervisor.health().map_err(|failure| failure.to_string())
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.own || picoclaw::has_request(kind)
    }

    async fn call(&self, call: Call<'_>) -> Run {
        let mut run = Run::from(self.answer(call.event).await);
        run.logs = self.log.take();
        run
    }
}

/// A line for the process: a request with `id`, or else a notification.
fn message(mut line: Object, id: Option<u64>) -> Vec<u8> {
    match id {
        Some(id) => line.insert("id".into(), id.into()),
        None => line.shift_remove("id"),
    };
    format!("{}\n", Value::Object(line)).into_bytes()
}
