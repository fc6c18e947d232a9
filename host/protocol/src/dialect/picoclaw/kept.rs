//! Parts of a request to the model that `PicoClaw` 0.2.8 and later keep, whatever a hook says: its system messages, and
//! the definitions of its tools.
//!
//! The client compares both with what it sent. Where one system message differs, or stands elsewhere in the list, it puts
//! all of its messages back; where one tool differs, all of its tools. So a changed system message would undo the
//! redaction of every other message.

use serde_json::Value;

use crate::{
    event::{BeforeLlm, Event},
    json::Object,
    output::{Halt, Note, Scope},
    protocol::Outcome,
};

/// Members that tell where a part of the prompt comes from: no model reads them, and the client does not compare them.
const ORIGIN: [&str; 3] = ["prompt_layer", "prompt_slot", "prompt_source"];

/// A version of the client, as far as the event's parameters show it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Up to 0.2.7: `channel` and `chat_id` stand at the top of the parameters.
    Older,
    /// From 0.2.8 on: they stand in `context`.
    Newer,
    /// Neither is there.
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

/// Lists as the client sent them and as hooks left them.
enum Compared {
    /// Nothing that the client keeps has changed.
    Same,
    /// Hooks only added to it.
    Added,
    /// Hooks changed it or took something out.
    Changed,
}

const SYSTEM: &str = "decisions.md#picoclaw: A changed or missing system message ends the turn, because PicoClaw 0.2.8 and later would put all messages back, a redacted prompt among them.";
const TOOLS: &str = "decisions.md#picoclaw: A changed or missing tool definition ends the turn, because PicoClaw 0.2.8 and later would offer the model the tools as they were.";

/// Makes a rewritten request one that the client obeys whole: what hooks only added is left out, and a change ends the turn.
pub(super) fn settle(event: &Event, sent: &BeforeLlm, outcome: &mut Outcome) {
    let version = Version::of(event);
    let Some(Value::Object(request)) = &mut outcome.output.updated else { return };
    let mut notes = Vec::new();
    let lost = if version != Version::Older && keep_system(sent, request, &mut notes) == Kept::Lost {
        Some(("a hook rewrote a system message, which this agent cannot do", SYSTEM))
    } else if version == Version::Newer && keep_tools(sent, request, &mut notes) == Kept::Lost {
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
enum Kept {
    Yes,
    Lost,
}

fn keep_system(sent: &BeforeLlm, request: &mut Object, notes: &mut Vec<Note>) -> Kept {
    let (Some(old), Some(Value::Array(new))) =
        (sent.messages.as_deref().and_then(Value::as_array), request.get_mut("messages"))
    else {
        return Kept::Yes;
    };
    let kept: Vec<&Value> = old.iter().filter(|message| is_system(message)).collect();
    let now: Vec<&Value> = new.iter().filter(|message| is_system(message)).collect();
    match compare(&kept, &now) {
        Compared::Changed => return Kept::Lost,
        Compared::Added => {
            let mut left = kept.iter();
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
    // Each has to stand where it stood, as the client wrote it.
    for (index, message) in old.iter().enumerate().filter(|(_, message)| is_system(message)) {
        match new.get_mut(index) {
            Some(place) if is_system(place) => place.clone_from(message),
            _ => return Kept::Lost,
        }
    }
    Kept::Yes
}

fn keep_tools(sent: &BeforeLlm, request: &mut Object, notes: &mut Vec<Note>) -> Kept {
    let old = sent.tools.as_deref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let Some(Value::Array(new)) = request.get("tools") else { return Kept::Yes };
    let (kept, now): (Vec<&Value>, Vec<&Value>) = (old.iter().collect(), new.iter().collect());
    match compare(&kept, &now) {
        Compared::Changed => return Kept::Lost,
        Compared::Added => {
            notes.push(Note::dropped("no effect: PicoClaw 0.2.8 and later accept no tool from a hook"));
        }
        Compared::Same => {}
    }
    match &sent.tools {
        Some(tools) => request.insert("tools".into(), tools.value().clone()),
        None => request.shift_remove("tools"),
    };
    Kept::Yes
}

/// Tells whether every member is as the client sent it.
fn is_as_sent(sent: &BeforeLlm, request: &Object) -> bool {
    let is = |key: &str, value: Option<&Value>| request.get(key) == value;
    is("messages", sent.messages.as_deref())
        && is("tools", sent.tools.as_deref())
        && is("options", sent.options.as_deref())
        && request.get("model").and_then(Value::as_str) == sent.model.as_deref()
}

/// Compares in order: what was sent has to be there still, with anything between.
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

/// Tells whether two values are the same to the client, which reads an empty member as an absent one.
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
