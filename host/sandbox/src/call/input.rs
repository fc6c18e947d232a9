//! Records that several events use. They borrow from the event, so that its large parts are in memory only once.

use std::{ops::Deref, sync::OnceLock};

use hookbox_protocol::{Dialect, Event, event::Json};

use crate::bindings::hookbox::hooks::types::{EventContext, ToolCall};

/// An event, and the texts created for the call.
pub(crate) struct EventView<'a> {
    event: &'a Event,
    made: Texts,
}

impl<'a> EventView<'a> {
    pub(crate) fn new(event: &'a Event) -> Self {
        Self { event, made: Texts::default() }
    }
}

impl Deref for EventView<'_> {
    type Target = Event;

    fn deref(&self) -> &Event {
        self.event
    }
}

/// A list of texts. Each lives as long as the list.
#[derive(Default)]
struct Texts(OnceLock<(String, Box<Texts>)>);

impl Texts {
    fn keep(&self, text: String) -> &str {
        let mut end = self;
        while let Some((_, next)) = end.0.get() {
            end = next;
        }
        &end.0.get_or_init(|| (text, Box::default())).0
    }
}

pub(crate) fn context<'a>(event: &'a Event, dialect: &'a dyn Dialect) -> EventContext<'a> {
    let from = &event.context;
    let (protocol, _profile) = dialect.name().split_once('@').unwrap_or((dialect.name(), ""));
    EventContext {
        dialect: protocol,
        event_name: &event.name,
        session_id: from.session_id.as_deref(),
        transcript_path: from.transcript_path.as_deref(),
        cwd: from.cwd.as_deref(),
        permission_mode: from.permission_mode.as_deref(),
        project_dir: from.project_dir.as_deref(),
        execution_id: from.execution_id.as_deref(),
        timestamp: from.timestamp.as_deref(),
        agent_id: from.agent_id.as_deref(),
        parent_tool_use_id: from.parent_tool_use_id.as_deref(),
        turn_id: from.turn_id.as_deref(),
        parent_turn_id: from.parent_turn_id.as_deref(),
        iteration: from.iteration,
        channel: from.channel.as_deref(),
        chat_id: from.chat_id.as_deref(),
    }
}

/// Returns the tool call of the event, with an empty name and the input `null` if the client sent none.
pub(crate) fn tool_call<'a>(event: &'a EventView<'_>) -> ToolCall<'a> {
    let call = event.call.as_ref();
    ToolCall {
        name: call.map(|call| &*call.name).unwrap_or_default(),
        input: json(event, call.map(|call| &call.input)),
        use_id: call.and_then(|call| call.use_id.as_deref()),
        original_input: call.and_then(|call| call.original_input.as_ref()).map(|input| json(event, Some(input))),
    }
}

/// Returns a value as JSON text: the client's own text if there is one, and `null` for a missing value.
pub(crate) fn json<'a>(event: &'a EventView<'_>, value: Option<&'a Json>) -> &'a str {
    let Some(value) = value else { return "null" };
    value.text().unwrap_or_else(|| event.made.keep(value.to_string()))
}

/// Converts a list of texts to the contract's type.
pub(crate) fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
