//! The client's check of a daemon's response: the header `Hookbox-Verdict` and the body must be consistent.
//!
//! The client's program uses only the header, and the agent only the body. If they differ, the response was truncated,
//! modified in transit, or is not from a daemon.

use hookbox::{Decision, DecisionKind, Dialect, Event, Halt, HookOutput, Scope};
use hookbox_protocol::json::{Object, parse_object};
use serde_json::Value;

/// The effect of a verdict on the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The agent continues as without hooks.
    Open,
    /// The agent continues without asking the user.
    Allows,
    /// The user or another program is asked.
    Asks,
    /// The agent is blocked.
    Blocks,
}

impl Effect {
    /// The effect of a word in the header. `None` for an unknown word.
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "nothing" | "none" => Self::Open,
            "allow" => Self::Allows,
            "ask" | "defer" => Self::Asks,
            "deny" | "skip" | "respond" | "stop" => Self::Blocks,
            _ => return None,
        })
    }

    fn of(output: &HookOutput) -> Self {
        match output.decision_kind() {
            _ if output.halt.is_some() => Self::Blocks,
            None => Self::Open,
            Some(DecisionKind::Allow) => Self::Allows,
            Some(DecisionKind::Ask | DecisionKind::Defer) => Self::Asks,
            Some(DecisionKind::Deny | DecisionKind::Skip | DecisionKind::Respond) => Self::Blocks,
        }
    }
}

/// Checks the response to this event. `word` is the header's value. `is_text` is true if the body's `Content-Type` is
/// plain text.
///
/// # Errors
/// A description of the inconsistency.
pub fn agree(
    dialect: &dyn Dialect,
    event: &[u8],
    name: Option<&str>,
    word: &str,
    body: &[u8],
    is_text: bool,
) -> Result<(), String> {
    let announced = Effect::of_word(word)
        .ok_or_else(|| format!("`Hookbox-Verdict` is `{}`, which is not a verdict", hookbox::shorten(word, 40)))?;
    let decoded = dialect.decode_event(event, name).ok();
    let glimpsed = || dialect.glimpse(event, name).map(|seen| Event::glimpsed(dialect, seen));
    let Some(event) = decoded.or_else(glimpsed) else {
        return Err("the name of its event is unknown".to_owned());
    };
    let (wire, output) = if body.is_empty() {
        (None, HookOutput::default())
    } else if is_text {
        // Only in some dialects is plain text a context.
        let text = String::from_utf8_lossy(body).into_owned();
        (Some(Value::String(text.clone())), HookOutput { context: Some(text), ..HookOutput::default() })
    } else {
        let object = parse_object(body).map_err(|error| format!("the body is not a JSON object: {error}"))?;
        let said = output(dialect, &object);
        let (output, notes) = dialect.decode_output(&event, said).map_err(|error| format!("the body: {error}"))?;
        // A client rejects such an output as a whole, and runs the tool.
        if let Some(place) = null_in(said) {
            return Err(format!("the body: {place} is null"));
        }
        let unnamed = said.get("hookSpecificOutput").is_some_and(|specific| specific.get("hookEventName").is_none());
        if unnamed {
            return Err("the body: hookSpecificOutput has no hookEventName".to_owned());
        }
        if let Some(note) = notes.iter().find(|note| note.misfit) {
            return Err(format!("the body: {}", note.text));
        }
        (Some(Value::Object(object)), output)
    };
    let effect = Effect::of(&output);
    // A dialect cannot express some verdicts on some events, and encodes others as something stricter. Then the body
    // must be the encoding of the header's word.
    let same_words = || dialect.encode_outcome(&event, &with_word(output, announced, word)) == wire;
    let is_plain = !matches!(wire, Some(Value::String(_)));
    if (effect == announced && is_plain) || same_words() {
        return Ok(());
    }
    let words = match effect {
        Effect::Open => "decides nothing",
        Effect::Allows => "allows",
        Effect::Asks => "asks",
        Effect::Blocks => "blocks",
    };
    Err(format!("`Hookbox-Verdict` is `{word}`, and the body {words}"))
}

/// The output with the header's decision.
fn with_word(output: HookOutput, announced: Effect, word: &str) -> HookOutput {
    if word == "nothing" {
        return HookOutput::default();
    }
    let decision = match announced {
        Effect::Open => None,
        Effect::Allows => Some(Decision::Allow),
        Effect::Asks => Some(Decision::Ask),
        Effect::Blocks => Some(Decision::Deny),
    };
    if word == "stop" {
        return HookOutput { halt: Some(Halt { scope: Scope::Turn, reason: None }), decision: None, ..output };
    }
    HookOutput { decision, halt: None, ..output }
}

/// The place of a null in an output. A rewritten value may contain one.
fn null_in(output: &Object) -> Option<String> {
    let nulls = |at: &str, of: &Object| {
        let null = of.iter().find(|(_, value)| value.is_null());
        null.map(|(key, _)| format!("{at}/{key}"))
    };
    let specific = output.get("hookSpecificOutput").and_then(Value::as_object);
    nulls("", output).or_else(|| nulls("/hookSpecificOutput", specific?))
}

/// The output in a body. In a JSON-RPC message, it is the `result`.
fn output<'a>(dialect: &dyn Dialect, body: &'a Object) -> &'a Object {
    let result = body.get("result").and_then(Value::as_object);
    result.filter(|_| dialect.name() == "picoclaw" && body.contains_key("jsonrpc")).unwrap_or(body)
}
