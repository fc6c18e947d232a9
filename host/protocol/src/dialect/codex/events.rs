//! The events of codex.md, and the fields that an answer to each can have.

use crate::{
    event::EventKind,
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks, ToolNames, Usage},
};

/// Codex's own names of tools, and Claude's. Codex already calls every shell `Bash`.
pub(super) const TOOLS: &[ToolNames] = &[
    (&["apply_patch"], &["Edit", "MultiEdit", "Write"]),
    (&["spawn_agent"], &["Agent", "Task"]),
    (&["update_plan"], &["TodoWrite"]),
    (&["web_search"], &["WebSearch"]),
    (&["request_user_input"], &["AskUserQuestion"]),
];

/// The answer to an event that hooks can only observe: nothing.
const MUTE: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };

/// codex.md#reading-an-answer: "`systemMessage` is shown on every event that takes an answer."
const PLAIN: Expressible = Expressible { system_message: true, ..MUTE };
const CONTEXT: Expressible = Expressible { context: true, ..PLAIN };
const HALT: Expressible = Expressible { halt: &[Scope::Turn], ..PLAIN };
const DENY: &[DecisionKind] = &[DecisionKind::Deny];
const ALLOW_OR_DENY: &[DecisionKind] = &[DecisionKind::Allow, DecisionKind::Deny];

/// codex.md#events: an event's own fields, besides the names of [`SPECS`] and the fields of a tool call.
const fn fields(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::SessionStart => &["source"],
        EventKind::SessionEnd => &["reason"],
        EventKind::UserPromptSubmit => &["prompt"],
        EventKind::PreCompact => &["trigger"],
        EventKind::SubagentStart => &["agent_type"],
        EventKind::SubagentStop => &["agent_type", "agent_transcript_path", "stop_hook_active"],
        EventKind::Stop => &["stop_hook_active"],
        _ => &[],
    }
}

const fn watched(name: &'static str, kind: EventKind, matched: Option<&'static str>) -> EventSpec {
    EventSpec {
        name,
        kind,
        matched,
        blockable: false,
        required: &[],
        names: &[],
        fields: fields(kind),
        expressible: MUTE,
    }
}

const fn answered(
    name: &'static str,
    kind: EventKind,
    matched: Option<&'static str>,
    expressible: Expressible,
) -> EventSpec {
    let blockable = !expressible.decisions.is_empty() || !expressible.halt.is_empty();
    EventSpec { blockable, expressible, ..watched(name, kind, matched) }
}

/// codex.md#matchers: "Tool events are matched by the tool's name".
const fn tool(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    EventSpec { required: &["tool_name"], ..answered(name, kind, Some("tool_name"), expressible) }
}

/// The client's name of the last answer.
const FINAL: &[(&str, &str)] = &[("last_assistant_message", "final_response")];

pub(super) static SPECS: &[EventSpec] = &[
    answered("SessionStart", EventKind::SessionStart, Some("source"), Expressible { halt: &[Scope::Turn], ..CONTEXT }),
    watched("SessionEnd", EventKind::SessionEnd, Some("reason")),
    EventSpec {
        required: &["prompt"],
        ..answered("UserPromptSubmit", EventKind::UserPromptSubmit, None, Expressible { decisions: DENY, ..CONTEXT })
    },
    tool("PreToolUse", EventKind::PreToolUse, Expressible { decisions: ALLOW_OR_DENY, rewrite: true, ..CONTEXT }),
    // `merge` turns an `allow` with another input into a denial, so both have to be expressible.
    tool(
        "PermissionRequest",
        EventKind::PermissionRequest,
        Expressible { decisions: ALLOW_OR_DENY, rewrite: true, ..PLAIN },
    ),
    EventSpec {
        names: &[("tool_response", "output")],
        ..tool("PostToolUse", EventKind::PostToolUse, Expressible { decisions: DENY, rewrite: true, ..CONTEXT })
    },
    answered("PreCompact", EventKind::PreCompact, Some("trigger"), HALT),
    watched("PostCompact", EventKind::OtherEvent, Some("trigger")),
    // codex.md#subagentstart: "A hook cannot stop it."
    answered("SubagentStart", EventKind::SubagentStart, Some("agent_type"), CONTEXT),
    EventSpec {
        names: FINAL,
        ..answered("SubagentStop", EventKind::SubagentStop, Some("agent_type"), Expressible { decisions: DENY, ..HALT })
    },
    EventSpec { names: FINAL, ..answered("Stop", EventKind::Stop, None, Expressible { decisions: DENY, ..HALT }) },
    watched("Interrupt", EventKind::OtherEvent, None),
    watched("PreModelRequest", EventKind::OtherEvent, None),
    watched("PostModelRequest", EventKind::OtherEvent, None),
];

/// decisions.md#codex: "An event that Codex may gain can be blocked by `continue: false` only: every output has that
/// field."
pub(super) static OTHER: EventSpec = answered("", EventKind::OtherEvent, None, HALT);

/// The tools that Codex 0.169.0 offers to its model. codex.md#events: "Any shell tool is `Bash`"; "`spawn_agent` and
/// `view_image` go by their names". Files that serve Claude Code too use `Edit` and `Write` for `apply_patch`.
pub(super) const USAGE: Usage = Usage {
    tools: &[
        "Bash",
        "apply_patch",
        "close_agent",
        "create_goal",
        "Edit",
        "get_goal",
        "request_user_input",
        "resume_agent",
        "send_input",
        "spawn_agent",
        "update_goal",
        "update_plan",
        "view_image",
        "wait_agent",
        "web_search",
        "Write",
    ],
    renamed: &[("shell", "Bash"), ("exec_command", "Bash"), ("local_shell", "Bash")],
    milliseconds_from: None,
    project_variable: None,
    later_events: &[],
    own_keys: &[],
};

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[Mark::has(&["hook_event_name", "turn_id"])],
    proof: &[Mark::has(&["hook_event_name", "turn_id"])],
    home: Some(".codex"),
    shared: &[Mark::has(&["hook_event_name"])],
    env: &[],
};
