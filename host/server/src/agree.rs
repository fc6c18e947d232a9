//! The check of a daemon's answer by its client: the header `Hookbox-Verdict` and the body say the same.
//!
//! The header alone is what the client's program decides by, and the body alone what the agent obeys. An answer in which
//! they differ was cut short, changed under way, or never was a daemon's.

use hookbox::{Decision, DecisionKind, Dialect, Event, Halt, HookOutput, Scope};
use hookbox_protocol::json::{Object, parse_object};
use serde_json::Value;

/// The effect of a verdict on the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Force {
    /// It goes on as it would without hooks.
    Open,
    /// It goes on without asking its user.
    Allows,
    /// Its user, or another program, is asked.
    Asks,
    /// It does not go on.
    Blocks,
}

impl Force {
    /// Of a word of the header.
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

/// Checks an answer to this event. `word` is the header's, `is_text` that the body is plain text by its `Content-Type`.
///
/// # Errors
/// What does not fit.
pub fn agree(
    dialect: &dyn Dialect,
    event: &[u8],
    name: Option<&str>,
    word: &str,
    body: &[u8],
    is_text: bool,
) -> Result<(), String> {
    let said = Force::of_word(word)
        .ok_or_else(|| format!("`Hookbox-Verdict` is `{}`, which is not a verdict", hookbox::shorten(word, 40)))?;
    let decoded = dialect.decode_event(event, name).ok();
    let glimpsed = || dialect.glimpse(event, name).map(|seen| Event::glimpsed(dialect, seen));
    let Some(event) = decoded.or_else(glimpsed) else {
        return Err("it is a verdict on an event of which not even the name is known".to_owned());
    };
    let (wire, output) = if body.is_empty() {
        (None, HookOutput::default())
    } else if is_text {
        // Only some dialects say context as text.
        let text = String::from_utf8_lossy(body).into_owned();
        (Some(Value::String(text.clone())), HookOutput { context: Some(text), ..HookOutput::default() })
    } else {
        let object = parse_object(body).map_err(|error| format!("the body is not a JSON object: {error}"))?;
        let (output, _) =
            dialect.decode_output(&event, output(dialect, &object)).map_err(|error| format!("the body: {error}"))?;
        (Some(Value::Object(object)), output)
    };
    let told = Force::of(&output);
    // A dialect has no words for some verdicts on some events, and elsewhere says more than it was told: then the body is what
    // it makes of the header's word.
    let same_words = || dialect.encode_outcome(&event, &with_word(output, said, word)) == wire;
    let is_plain = !matches!(wire, Some(Value::String(_)));
    if (told == said && is_plain) || same_words() {
        return Ok(());
    }
    let words = match told {
        Force::Open => "decides nothing",
        Force::Allows => "allows",
        Force::Asks => "asks",
        Force::Blocks => "blocks",
    };
    Err(format!("`Hookbox-Verdict` is `{word}`, and the body {words}"))
}

/// The output with the decision of the header instead of its own.
fn with_word(output: HookOutput, said: Force, word: &str) -> HookOutput {
    if word == "nothing" {
        return HookOutput::default();
    }
    let decision = match said {
        Force::Open => None,
        Force::Allows => Some(Decision::Allow),
        Force::Asks => Some(Decision::Ask),
        Force::Blocks => Some(Decision::Deny),
    };
    if word == "stop" {
        return HookOutput { halt: Some(Halt { scope: Scope::Turn, reason: None }), decision: None, ..output };
    }
    HookOutput { decision, halt: None, ..output }
}

/// The output in a body: that of a JSON-RPC message is its `result`.
fn output<'a>(dialect: &dyn Dialect, body: &'a Object) -> &'a Object {
    let result = body.get("result").and_then(Value::as_object);
    result.filter(|_| dialect.name() == "picoclaw" && body.contains_key("jsonrpc")).unwrap_or(body)
}
