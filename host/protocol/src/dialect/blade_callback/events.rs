//! The events of blade-callback.md, each with its "`HookInput` 字段" (fields of its input).

use crate::{
    answer::{RuleKind, Scope},
    dialect::{EventRow, Says},
    event::Kind,
};

/// The permission callback's name on the wire.
pub(super) const CAN_USE_TOOL: &str = "canUseTool";

/// What every event shares: "event、sessionId".
pub(super) const ORIGIN: &[(&str, &str)] = &[("sessionId", "session_id")];

const TOOL: &[(&str, &str)] = &[("toolName", "tool_name"), ("toolInput", "tool_input")];

/// What every `HookOutput` can say: "action: 'continue' | 'skip' | 'abort'". `abort` is "终止整个会话" (ends the whole
/// session).
const PLAIN: Says = Says {
    rules: &[RuleKind::Skip],
    rewrite: false,
    context: false,
    system_message: false,
    halt: &[Scope::Session],
    env: false,
};

const fn row(name: &'static str, kind: Kind) -> EventRow {
    EventRow { name, kind, matched: None, blockable: false, required: &[], names: &[], says: PLAIN }
}

const fn tool_row(name: &'static str, kind: Kind, required: &'static [&'static str]) -> EventRow {
    EventRow { matched: Some("tool_name"), required, names: TOOL, ..row(name, kind) }
}

pub(super) static ROWS: &[EventRow] = &[
    row("SessionStart", Kind::SessionStart),
    EventRow {
        blockable: true,
        required: &["message"],
        names: &[("message", "prompt")],
        ..row("UserPromptSubmit", Kind::UserPromptSubmit)
    },
    EventRow {
        blockable: true,
        says: Says { rewrite: true, ..PLAIN },
        ..tool_row("PreToolUse", Kind::PreToolUse, &["toolName", "toolInput"])
    },
    EventRow {
        names: &[("toolName", "tool_name"), ("toolInput", "tool_input"), ("toolOutput", "output")],
        says: Says { rewrite: true, ..PLAIN },
        ..tool_row("PostToolUse", Kind::PostToolUse, &["toolName"])
    },
    tool_row("PostToolUseFailure", Kind::PostToolUseFailure, &["toolName"]),
    EventRow { blockable: true, ..tool_row("PermissionRequest", Kind::PermissionRequest, &["toolName"]) },
    row("TaskCompleted", Kind::TaskCompleted),
    row("SessionEnd", Kind::SessionEnd),
    EventRow {
        blockable: true,
        names: &[
            ("toolName", "tool_name"),
            ("input", "tool_input"),
            ("toolKind", "tool_kind"),
            ("affectedPaths", "affected_paths"),
        ],
        says: Says { rules: &[RuleKind::Allow, RuleKind::Ask, RuleKind::Deny], rewrite: true, halt: &[], ..PLAIN },
        ..tool_row(CAN_USE_TOOL, Kind::CanUseTool, &["toolName"])
    },
];

/// Events the SDK may gain: whether such an event can be blocked is not known, so it counts as one that can.
pub(super) static OTHER: EventRow = EventRow { blockable: true, ..row("", Kind::OtherEvent) };
