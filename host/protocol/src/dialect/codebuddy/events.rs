//! The events of `docs/spec/codebuddy.md`, with their tables of input and output fields.

use crate::{
    dialect::common::take_aliases,
    event::{EventKind, Fields, wire::Wire},
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks},
};

/// The fields that every output has: `continue`, `stopReason`, `suppressOutput`, `decision: "block"`, and
/// `systemMessage`, which claude has too.
const PLAIN: Expressible = Expressible {
    decisions: &[DecisionKind::Deny],
    rewrite: false,
    context: false,
    system_message: true,
    halt: &[Scope::Turn],
    env: false,
};

/// The fields of codebuddy.md#input, and the fields of the contract that the real client sends (`tests/samples/codebuddy`).
const fn fields(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::UserPromptSubmit => &["prompt"],
        EventKind::Stop => &["stop_hook_active"],
        EventKind::SubagentStop => &["stop_hook_active", "agent_type", "agent_transcript_path"],
        EventKind::PreCompact => &["trigger", "custom_instructions"],
        _ => &[],
    }
}

/// decisions.md#the-real-codebuddy: "no field but `hook_event_name` may be required when decoding".
const fn spec(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    EventSpec {
        name,
        kind,
        matched: None,
        blockable: true,
        required: &[],
        fields: fields(kind),
        names: &[],
        expressible,
    }
}

/// codebuddy.md#matchers: "exact | `Bash` | the tool Bash only".
const fn tool_spec(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    EventSpec { matched: Some("tool_name"), ..spec(name, kind, expressible) }
}

/// The client's name of the last answer.
const FINAL: &[(&str, &str)] = &[("last_assistant_message", "final_response")];

/// The event specs of a profile. `decisions` are the profile's decisions before a tool runs.
const fn specs(decisions: &'static [DecisionKind]) -> [EventSpec; 6] {
    [
        // codebuddy.md#events: "`PreToolUse` | before a tool runs | block it, or change its input".
        tool_spec(
            "PreToolUse",
            EventKind::PreToolUse,
            Expressible { decisions, rewrite: true, context: true, ..PLAIN },
        ),
        // codebuddy.md#events: "`PostToolUse` | after a tool has succeeded | add context".
        EventSpec {
            names: &[("tool_response", "output")],
            ..tool_spec("PostToolUse", EventKind::PostToolUse, Expressible { context: true, ..PLAIN })
        },
        // codebuddy.md#events: "`UserPromptSubmit` | when the user submits a message | add context, or block its
        // handling".
        spec("UserPromptSubmit", EventKind::UserPromptSubmit, Expressible { context: true, ..PLAIN }),
        // codebuddy.md#events: "keep it from stopping and ask it to go on".
        EventSpec { names: FINAL, ..spec("Stop", EventKind::Stop, PLAIN) },
        EventSpec { names: FINAL, ..spec("SubagentStop", EventKind::SubagentStop, PLAIN) },
        spec("PreCompact", EventKind::PreCompact, PLAIN),
    ]
}

/// codebuddy.md#output: "`decision` | `block` | blocks the operation. There is no other word".
pub(super) static DOCUMENTED: &[EventSpec] = &specs(&[DecisionKind::Deny]);

/// decisions.md#the-real-codebuddy: "Its current output for a blocked tool is `hookSpecificOutput.permissionDecision`".
/// That field also takes `allow` and `ask`.
pub(super) static OBSERVED: &[EventSpec] = &specs(&[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny]);

/// The row of all other events. decisions.md#what-every-dialect-shares: "Events beyond the specification reach a hook
/// through the generic event interface (name + JSON in, JSON out) and through command handlers, and merge by the common
/// rules." Such an event may be blockable, so it counts as one.
pub(super) static OTHER: EventSpec = spec(
    "",
    EventKind::OtherEvent,
    Expressible {
        decisions: &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny],
        rewrite: true,
        context: true,
        ..PLAIN
    },
);

/// decisions.md#codebuddy: "The examples read `input.command` directly while the reference says `tool_input.command`:
/// hooks get `tool_input`; events may have either, and an `input` as well."
///
/// A tool event without `tool_input` gets one: its `input`, or else all fields that can be the tool's arguments. The
/// client's own fields stay for hooks that read them.
pub(super) fn take_tool_input(wire: &mut Wire) {
    take_aliases(wire, &[("/input", "tool_input")]);
    if wire.has("tool_input") {
        return;
    }
    let arguments = wire.members.iter().filter(|(name, value)| !value.is_null() && !NOT_INPUT.contains(name));
    let arguments: Fields = arguments.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    if !arguments.is_empty() {
        wire.add("tool_input", arguments);
    }
}

/// The fields that are not arguments of a tool.
const NOT_INPUT: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "permission_mode",
    "hook_event_name",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "call_id",
    "agent_id",
    "agent_type",
    "client",
    "version",
    "generation_id",
    "model",
    "timestamp",
];

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[Mark::has(&["hook_event_name", "client", "version"])],
    proof: &[Mark::has(&["hook_event_name", "client", "version"])],
    home: Some(".codebuddy"),
    shared: &[Mark::has(&["hook_event_name"])],
    env: &["CODEBUDDY_PROJECT_DIR"],
};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::event::wire::parse_wire;

    fn tool_input(wire: &Value) -> Value {
        let wire = wire.to_string();
        let mut wire = parse_wire(wire.as_bytes()).unwrap();
        take_tool_input(&mut wire);
        wire.members.take("tool_input").map(Value::from).unwrap_or_default()
    }

    #[test]
    fn the_wire_accepts_both_places() {
        let expected = json!({ "command": "ls" });
        for wire in [
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }),
            json!({ "tool_name": "Bash", "input": { "command": "ls" } }),
            json!({ "tool_name": "Bash", "command": "ls", "session_id": "s", "call_id": "c" }),
            json!({ "tool_name": "Bash", "tool_input": null, "command": "ls" }),
        ] {
            assert_eq!(tool_input(&wire), expected, "{wire}");
        }
    }

    #[test]
    fn existing_fields_are_preserved() {
        assert_eq!(tool_input(&json!({ "tool_input": { "a": 1 }, "command": "rm" })), json!({ "a": 1 }));
        assert_eq!(tool_input(&json!({ "tool_name": "Bash", "model": "m" })), Value::Null);
    }
}
