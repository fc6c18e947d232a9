//! Records that several events take.

use hookbox_protocol::{Dialect, Event, json::Object};
use serde_json::Value;

use crate::bindings::hookbox::hooks::types::{EventContext, ToolCall};

pub(crate) fn context(event: &Event, dialect: &dyn Dialect) -> EventContext {
    let from = event.context.clone();
    let (protocol, _profile) = dialect.name().split_once('@').unwrap_or((dialect.name(), ""));
    EventContext {
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
        parent_tool_use_id: from.parent_tool_use_id,
        turn_id: from.turn_id,
        parent_turn_id: from.parent_turn_id,
        iteration: from.iteration,
        channel: from.channel,
        chat_id: from.chat_id,
    }
}

/// The tool of the event; an empty name and `null` where the client sent none.
pub(crate) fn tool_call(event: &Event) -> ToolCall {
    let call = event.call.as_ref();
    ToolCall {
        name: call.map(|c| c.name.clone()).unwrap_or_default(),
        input: json(event, call.map(|c| &c.input)),
        use_id: call.and_then(|c| c.use_id.clone()),
        original_input: call.and_then(|c| c.original_input.as_ref()).map(|input| json(event, Some(input))),
    }
}

/// JSON text, as the client wrote it where a value does not hold that; `null` where there is nothing.
pub(crate) fn json(event: &Event, value: Option<&Value>) -> String {
    let Some(value) = value else { return "null".to_owned() };
    event.raw.written_as(value).unwrap_or_else(|| value.to_string())
}

/// As [`json`], of an object made of members of the event.
pub(crate) fn object(event: &Event, object: &Object) -> String {
    let members =
        object.iter().map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), json(event, Some(value))));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
