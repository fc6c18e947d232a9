//! Records that several events take.

use hookbox_protocol::{Dialect, Event};
use serde_json::Value;

use crate::bindings::hookbox::hooks::types::{Origin, ToolCall};

pub(crate) fn origin(event: &Event, dialect: &dyn Dialect) -> Origin {
    let from = event.origin.clone();
    let (protocol, _profile) = dialect.name().split_once('@').unwrap_or((dialect.name(), ""));
    Origin {
        dialect: protocol.to_owned(),
        event_name: event.name.clone(),
        session_id: from.session_id,
        transcript_path: from.transcript_path,
        cwd: from.cwd,
        permission_mode: from.permission_mode,
        project_dir: from.project_dir,
        execution_id: from.execution_id,
        timestamp: from.timestamp,
        agent_id: from.agent_id,
        turn_id: from.turn_id,
        parent_turn_id: from.parent_turn_id,
        iteration: from.iteration,
        channel: from.channel,
        chat_id: from.chat_id,
        raw: event.raw.to_string(),
    }
}

/// The tool of the event; an empty name and `null` where the client sent none.
pub(crate) fn tool_call(event: &Event) -> ToolCall {
    let call = event.call.as_ref();
    ToolCall {
        name: call.map(|c| c.name.clone()).unwrap_or_default(),
        input: json(call.map(|c| &c.input)),
        use_id: call.and_then(|c| c.use_id.clone()),
    }
}

/// JSON text; `null` where there is nothing.
pub(crate) fn json(value: Option<&Value>) -> String {
    value.map_or_else(|| "null".to_owned(), Value::to_string)
}
