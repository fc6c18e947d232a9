//! The events of `docs/spec/blade-callback.md`, each with the fields of its input.

use crate::{
    dialect::{EventSpec, Expressible, Mark, Marks},
    event::EventKind,
    output::{DecisionKind, Scope},
};

/// The permission callback's name on the wire.
pub(super) const CAN_USE_TOOL: &str = "canUseTool";

/// What every event shares: `event` and `sessionId`.
pub(super) const ORIGIN: &[(&str, &str)] = &[("sessionId", "session_id")];

const TOOL: &[(&str, &str)] = &[("toolName", "tool_name"), ("toolInput", "tool_input")];

/// What every output can say. blade-callback.md#output: "`action` | `continue`, `skip` or `abort` | required"; "`abort`
/// | end the whole session".
const PLAIN: Expressible = Expressible {
    decisions: &[DecisionKind::Skip],
    rewrite: false,
    context: false,
    system_message: false,
    halt: &[Scope::Session],
    env: false,
};

const fn spec(name: &'static str, kind: EventKind) -> EventSpec {
    EventSpec { name, kind, matched: None, blockable: false, required: &[], names: &[], expressible: PLAIN }
}

const fn tool_spec(name: &'static str, kind: EventKind, required: &'static [&'static str]) -> EventSpec {
    EventSpec { matched: Some("tool_name"), required, names: TOOL, ..spec(name, kind) }
}

pub(super) static SPECS: &[EventSpec] = &[
    spec("SessionStart", EventKind::SessionStart),
    EventSpec {
        blockable: true,
        required: &["message"],
        names: &[("message", "prompt")],
        ..spec("UserPromptSubmit", EventKind::UserPromptSubmit)
    },
    EventSpec {
        blockable: true,
        expressible: Expressible { rewrite: true, ..PLAIN },
        ..tool_spec("PreToolUse", EventKind::PreToolUse, &["toolName", "toolInput"])
    },
    EventSpec {
        names: &[("toolName", "tool_name"), ("toolInput", "tool_input"), ("toolOutput", "output")],
        expressible: Expressible { rewrite: true, ..PLAIN },
        ..tool_spec("PostToolUse", EventKind::PostToolUse, &["toolName"])
    },
    tool_spec("PostToolUseFailure", EventKind::PostToolUseFailure, &["toolName"]),
    EventSpec { blockable: true, ..tool_spec("PermissionRequest", EventKind::PermissionRequest, &["toolName"]) },
    spec("TaskCompleted", EventKind::TaskCompleted),
    spec("SessionEnd", EventKind::SessionEnd),
    EventSpec {
        blockable: true,
        names: &[
            ("toolName", "tool_name"),
            ("input", "tool_input"),
            ("toolKind", "tool_kind"),
            ("affectedPaths", "affected_paths"),
        ],
        expressible: Expressible {
            decisions: &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny],
            rewrite: true,
            halt: &[],
            ..PLAIN
        },
        ..tool_spec(CAN_USE_TOOL, EventKind::CanUseTool, &["toolName"])
    },
];

/// Events the SDK may gain: whether such an event can be blocked is not known, so it counts as one that can.
pub(super) static OTHER: EventSpec = EventSpec { blockable: true, ..spec("", EventKind::OtherEvent) };

/// What tells a payload of this client.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&["event", "sessionId"]).lacks(&["hook_event_name"]),
        Mark::has(&["event", "toolName"]).lacks(&["hook_event_name"]),
    ],
    shared: &[],
};
