//! The parts of a model request that `PicoClaw` 0.2.8 and later protect from hooks: system messages and tool definitions.
//!
//! The client compares both with its own request. If one system message changed or moved, it restores all messages; if
//! one tool changed, it restores all tools. A changed system message would therefore undo the redaction of all other
//! messages.

use serde_json::Value;

use crate::{
    event::{BeforeLlm, Event},
    json::Object,
    output::{Halt, Note, Scope},
    protocol::Outcome,
};

/// Members that record the source of a part of the prompt. Models do not read them, and the client does not compare them.
const ORIGIN: [&str; 3] = ["prompt_layer", "prompt_slot", "prompt_source"];

/// Version of the client, inferred from the event's parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Up to 0.2.7: the parameters have `channel` and `chat_id` at the top.
    Older,
    /// From 0.2.8 on: `context` has them.
    Newer,
    /// The parameters have neither.
    Unknown,
}

impl Version {
    fn of(event: &Event) -> Self {
        let has = |key: &str| event.extra.contains_key(key);
        if has("context") {
            Self::Newer
        } else if has("channel") || has("chat_id") {
            Self::Older
        } else {
            Self::Unknown
        }
    }
}

/// Comparison of a list before and after the hooks.
enum Compared {
    /// The protected parts did not change.
    Same,
    /// Hooks only added to them.
    Added,
    /// Hooks changed or removed a part.
    Changed,
}

const SYSTEM: &str = "decisions.md#picoclaw: A changed or missing system message ends the turn, because PicoClaw 0.2.8 and later would restore all messages, even a redacted prompt.";
const TOOLS: &str = "decisions.md#picoclaw: A changed or missing tool definition ends the turn, because PicoClaw 0.2.8 and later would offer the model the tools as they were.";

/// Adjusts a rewritten request so that the client obeys all of it. Additions to protected parts are left out; a change
/// of them ends the turn.
pub(super) fn settle(event: &Event, sent: &BeforeLlm, outcome: &mut Outcome) {
    let version = Version::of(event);
    let Some(Value::Object(request)) = &mut outcome.output.updated else { return };
    let mut notes = Vec::new();
    let lost = if version != Version::Older && keep_system(sent, request, &mut notes) == Fate::Lost {
        Some(("a hook rewrote a system message, which this agent cannot do", SYSTEM))
    } else if version == Version::Newer && keep_tools(sent, request, &mut notes) == Fate::Lost {
        Some(("a hook took away or changed a tool, which this agent cannot do", TOOLS))
    } else {
        None
    };
    if let Some((why, clause)) = lost {
        outcome.output.updated = None;
        outcome.output.halt = Some(Halt { scope: Scope::Turn, reason: Some(why.to_owned()) });
        outcome.clause = clause;
        notes = vec![Note::degraded(format!("{why}; the turn ends"))];
    } else if is_as_sent(sent, request) {
        outcome.output.updated = None;
    }
    outcome.notes.extend(notes.into_iter().map(|note| (None, note)));
}

/// Fate of the client's own part of a list.
#[derive(PartialEq, Eq)]
enum Fate {
    Yes,
    Lost,
}

fn keep_system(sent: &BeforeLlm, request: &mut Object, notes: &mut Vec<Note>) -> Fate {
    let (Some(old), Some(Value::Array(new))) =
        (sent.messages.as_deref().and_then(Value::as_array), request.get_mut("messages"))
    else {
        return Fate::Yes;
    };
    let protected: Vec<&Value> = old.iter().filter(|message| is_system(message)).collect();
    let now: Vec<&Value> = new.iter().filter(|message| is_system(message)).collect();
    match compare(&protected, &now) {
        Compared::Changed => return Fate::Lost,
        Compared::Added => {
            let mut left = protected.iter();
            let mut next = left.next();
            new.retain(|message| {
                let own = !is_system(message) || next.is_some_and(|next| same(next, message));
                if own && is_system(message) {
                    next = left.next();
                }
                own
            });
            notes.push(Note::dropped("no effect: PicoClaw 0.2.8 and later accept no system message from a hook"));
        }
        Compared::Same => {}
    }
    // Every system message must keep its position, and gets the client's text.
    for (index, message) in old.iter().enumerate().filter(|(_, message)| is_system(message)) {
        match new.get_mut(index) {
            Some(place) if is_system(place) => place.clone_from(message),
            _ => return Fate::Lost,
        }
    }
    Fate::Yes
}

fn keep_tools(sent: &BeforeLlm, request: &mut Object, notes: &mut Vec<Note>) -> Fate {
    let old = sent.tools.as_deref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let Some(Value::Array(new)) = request.get("tools") else { return Fate::Yes };
    let (protected, now): (Vec<&Value>, Vec<&Value>) = (old.iter().collect(), new.iter().collect());
    match compare(&protected, &now) {
        Compared::Changed => return Fate::Lost,
        Compared::Added => {
            notes.push(Note::dropped("no effect: PicoClaw 0.2.8 and later accept no tool from a hook"));
        }
        Compared::Same => {}
    }
    match &sent.tools {
        Some(tools) => request.insert("tools".into(), tools.value().clone()),
        None => request.shift_remove("tools"),
    };
    Fate::Yes
}

/// Returns true if no member of the request changed.
fn is_as_sent(sent: &BeforeLlm, request: &Object) -> bool {
    let is = |key: &str, value: Option<&Value>| request.get(key) == value;
    is("messages", sent.messages.as_deref())
        && is("tools", sent.tools.as_deref())
        && is("options", sent.options.as_deref())
        && request.get("model").and_then(Value::as_str) == sent.model.as_deref()
}

/// Compares two lists in order. All old items must still be there, and new ones may be in between.
fn compare(sent: &[&Value], now: &[&Value]) -> Compared {
    let mut rest = now.iter();
    if !sent.iter().all(|one| rest.any(|other| same(one, other))) {
        return Compared::Changed;
    }
    if sent.len() == now.len() { Compared::Same } else { Compared::Added }
}

fn is_system(message: &Value) -> bool {
    message.get("role").and_then(Value::as_str) == Some("system")
}

/// Returns true if the client treats two values as the same. It reads an empty member as a missing one.
fn same(one: &Value, other: &Value) -> bool {
    fn counts((key, value): &(&String, &Value)) -> bool {
        let is_empty = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        !is_empty && !ORIGIN.contains(&key.as_str())
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().filter(counts).count() == other.iter().filter(counts).count()
                && one.iter().filter(counts).all(|(key, value)| other.get(key).is_some_and(|o| same(value, o)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}
