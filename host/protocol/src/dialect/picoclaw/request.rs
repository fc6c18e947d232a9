//! Translates events of other clients for a hook process of `PicoClaw`, and its answers back.
//!
//! It translates the parts that all dialects have: the tool call and its result, the model request and response, and
//! the ids. The process sees no difference.

use serde_json::{Value, json};

use super::DIALECT;
use crate::{
    Dialect as _,
    event::{
        AfterLlm, AgentEvent, Event, EventContext, EventKind, Input, PermissionRequest, PostToolUse, PreToolUse,
        ToolCall,
    },
    json::{DecodeError, Object},
    output::{HookOutput, Note},
};

/// Returns true if a hook process can get events of this kind. Events that can be blocked but have no request in
/// picoclaw are left out, because a hook that only observes them is no gate.
pub fn has_request(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::UserPromptSubmit
            | EventKind::Stop
            | EventKind::SubagentStop
            | EventKind::PreCompact
            | EventKind::TaskCompleted
            | EventKind::OtherEvent
    )
}

/// The mode that a hook process needs for events of this kind: one of `modes` in picoclaw.md#hookhello.
pub fn mode(kind: EventKind) -> &'static str {
    match kind {
        EventKind::BeforeLlm | EventKind::AfterLlm => "llm",
        EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure => "tool",
        EventKind::PermissionRequest | EventKind::CanUseTool => "approve",
        _ => "observe",
    }
}

/// All modes, in the client's order.
pub const MODES: [&str; 4] = ["observe", "llm", "tool", "approve"];

/// Translates an event to picoclaw. `None` if picoclaw cannot send it ([`has_request`]).
pub fn to_request(event: &Event) -> Option<Event> {
    let translated = match &event.input {
        Input::PreToolUse(_) => Input::PreToolUse(PreToolUse::default()),
        Input::PermissionRequest(_) | Input::CanUseTool(_) => Input::PermissionRequest(PermissionRequest::default()),
        Input::PostToolUse(ran) => {
            let output = Some(result(ran.output.as_deref(), false).into());
            Input::PostToolUse(PostToolUse { output, duration_ns: ran.duration_ns })
        }
        Input::PostToolUseFailure(failed) => {
            let output = Some(result(failed.error.clone().map(Value::String).as_ref(), true).into());
            Input::PostToolUse(PostToolUse { output, duration_ns: None })
        }
        Input::BeforeLlm(_) => event.input.clone(),
        Input::AfterLlm(answered) => Input::AfterLlm(AfterLlm {
            model: answered.model.clone(),
            response: answered
                .response
                .as_ref()
                .map(|response| text_of(response).map_or_else(|| response.clone(), |text| answer(&text).into())),
        }),
        // The client's events always have a kind.
        Input::AgentEvent(happened) => Input::AgentEvent(AgentEvent {
            kind: Some(happened.kind.clone().unwrap_or_default()),
            payload: happened.payload.clone(),
        }),
        // Events that hooks only observe.
        _ if has_request(event.kind()) => Input::AgentEvent(AgentEvent {
            kind: Some(snake(event.kind().name())),
            payload: Some(Value::clone(&event.raw).into()),
        }),
        _ => return None,
    };
    let context = EventContext {
        session_id: event.context.session_id.clone(),
        agent_id: event.context.agent_id.clone(),
        turn_id: event.context.turn_id.clone(),
        parent_turn_id: event.context.parent_turn_id.clone(),
        iteration: event.context.iteration,
        channel: event.context.channel.clone(),
        chat_id: event.context.chat_id.clone(),
        ..EventContext::default()
    };
    let call = event.call.as_ref().filter(|_| translated.kind().has_tool()).map(|call| {
        let input = if call.input.is_null() { json!({}).into() } else { call.input.clone() };
        ToolCall::new(call.name.clone(), input)
    });
    let mut translated = Event::new(&DIALECT, context, call, translated);
    if translated.call.as_ref().is_some_and(|call| call.name.is_empty()) {
        // picoclaw.md: `tool` is always there, even if a client left out the name.
        translated.extra.insert("tool", Value::from(""));
        translated.raw = DIALECT.encode_event(&translated).into();
    }
    Some(translated)
}

/// Translates the `result` object of a hook process to an output for `event`. `translated` is the result of [`to_request`] for that
/// event.
///
/// # Errors
/// The errors of [`crate::Dialect::decode_output`].
pub fn from_result(event: &Event, translated: &Event, result: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = DIALECT.decode_output(translated, result)?;
    // A `modify` repeats the parts that it does not change.
    if let Some(call) = &event.call {
        output.updated_tool.take_if(|tool| *tool == call.name);
        if event.kind() == EventKind::PreToolUse {
            output.updated.take_if(|input| call.input == *input);
        }
    }
    if let (Input::PostToolUse(ran), Input::PostToolUse(seen), Some(new)) =
        (&event.input, &translated.input, &output.updated)
        && ran.output != seen.output
    {
        let text = new.get("for_llm").and_then(Value::as_str);
        if text.is_none() {
            notes.push(Note::dropped("a result without `for_llm` changes nothing"));
        }
        let same = text == seen.output.as_ref().and_then(|seen| seen.get("for_llm")).and_then(Value::as_str);
        output.updated = text.filter(|_| !same).map(|text| value(text, ran.output.as_deref()));
    }
    if let (Input::AfterLlm(answered), Some(new)) = (&event.input, &output.updated)
        && let Some(response) = &answered.response
        && let Some(before) = text_of(response)
    {
        let text = new.get("content").and_then(Value::as_str);
        if text.is_none() {
            notes.push(Note::dropped("a response without `content` changes nothing"));
        }
        output.updated = text.filter(|text| *text != before).map(|text| with_text(response, text));
    }
    Ok((output, notes))
}

/// The parts of a model's response in Gemini's form.
const PARTS: &str = "/candidates/0/content/parts";

/// Returns the text of a response in parts. Each part is a string or an object with a `text`.
fn text_of(response: &Value) -> Option<String> {
    let text = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).unwrap_or_default().to_owned();
    Some(response.pointer(PARTS)?.as_array()?.iter().map(text).collect())
}

/// Replaces the text of such a response. The other fields of its parts are dropped, because the process did not see them.
fn with_text(response: &Value, text: &str) -> Value {
    let mut response = response.clone();
    if let Some(parts) = response.pointer_mut(PARTS) {
        *parts = json!([text]);
    }
    // The response repeats the whole text here.
    if let Some(whole @ Value::String(_)) = response.get_mut("text") {
        *whole = text.into();
    }
    response
}

/// A model's response, with the fields of `picoclaw.md#hookafter_llm`.
fn answer(text: &str) -> Value {
    json!({ "role": "assistant", "content": text, "tool_calls": [] })
}

/// A tool's result, with the fields of `picoclaw.md#hookafter_tool`.
fn result(output: Option<&Value>, is_error: bool) -> Value {
    let text = match output {
        Some(result) if result.get("for_llm").is_some_and(Value::is_string) => return result.clone(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    json!({ "for_llm": text, "for_user": "", "silent": false, "is_error": is_error })
}

/// Converts a rewritten text to the type of the old result. It becomes JSON if the old result was not a string and the
/// text is valid JSON.
fn value(text: &str, before: Option<&Value>) -> Value {
    let is_text = before.is_none_or(Value::is_string);
    let parsed = (!is_text).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    parsed.unwrap_or_else(|| text.into())
}

/// Converts an event name to snake case, as `PicoClaw` writes it: `session_start`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
