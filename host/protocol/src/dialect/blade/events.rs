//! The events of `docs/spec/blade.md`: which ones can be blocked, the fields for matchers, and the input and output fields.

use crate::{
    event::{EventKind, Input},
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks},
};

/// The fields that every output has: `continue`, `stopReason`, `suppressOutput`, `systemMessage`.
const PLAIN: Expressible = Expressible {
    decisions: &[],
    rewrite: false,
    context: false,
    system_message: true,
    halt: &[Scope::Turn],
    env: false,
};

const GATE: Expressible = Expressible { decisions: &[DecisionKind::Deny], ..PLAIN };

pub(super) const DECISIONS: &[DecisionKind] = &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny];

pub(super) const PROMPT: &[(&str, &str)] = &[("user_prompt", "prompt")];

pub(super) const RESULT: &[(&str, &str)] = &[("tool_output", "output")];

pub(super) const fn spec(
    name: &'static str,
    kind: EventKind,
    matched: Option<&'static str>,
    expressible: Expressible,
) -> EventSpec {
    EventSpec {
        name,
        kind,
        matched,
        blockable: !expressible.decisions.is_empty(),
        required: &[],
        fields: Input::fields(kind),
        names: &[],
        expressible,
    }
}

/// blade.md#events: "`PreToolUse` | before a tool call runs | yes | tool name".
pub(super) const fn tool_spec(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    spec(name, kind, Some("tool_name"), expressible)
}

pub(super) static SPECS: &[EventSpec] = &[
    // blade.md#events: "how it began: `startup`, `resume`, `clear`, `compact`".
    spec("SessionStart", EventKind::SessionStart, Some("source"), Expressible { context: true, env: true, ..PLAIN }),
    // blade.md#matchers: "`UserPromptSubmit`, `Stop` and `TaskCompleted` do not support matchers: they fire every
    // time."
    EventSpec {
        names: PROMPT,
        ..spec(
            "UserPromptSubmit",
            EventKind::UserPromptSubmit,
            None,
            Expressible { rewrite: true, context: true, ..GATE },
        )
    },
    tool_spec(
        "PreToolUse",
        EventKind::PreToolUse,
        Expressible { decisions: DECISIONS, rewrite: true, context: true, ..PLAIN },
    ),
    tool_spec("PermissionRequest", EventKind::PermissionRequest, Expressible { decisions: DECISIONS, ..PLAIN }),
    EventSpec {
        names: RESULT,
        ..tool_spec("PostToolUse", EventKind::PostToolUse, Expressible { rewrite: true, context: true, ..PLAIN })
    },
    tool_spec("PostToolUseFailure", EventKind::PostToolUseFailure, PLAIN),
    // blade.md#events: "notification type: `permission_prompt`, `idle_prompt`, `info`, …".
    spec("Notification", EventKind::Notification, Some("notification_type"), PLAIN),
    // blade.md#events: "agent type: `Bash`, `Explore`, `Plan`, …".
    spec("SubagentStart", EventKind::SubagentStart, Some("agent_type"), Expressible { context: true, ..PLAIN }),
    spec("SubagentStop", EventKind::SubagentStop, Some("agent_type"), Expressible { context: true, ..GATE }),
    spec("Stop", EventKind::Stop, None, Expressible { context: true, ..GATE }),
    spec("TaskCompleted", EventKind::TaskCompleted, None, GATE),
    // blade.md#events: "trigger: `manual`, `auto`". decisions.md#blade-config: "`Compaction` is "not blockable" in the
    // table but has `blockCompaction`; the field wins."
    spec("Compaction", EventKind::PreCompact, Some("trigger"), GATE),
    // blade.md#events: "why it ended: `clear`, `logout`, `error`, `other`, …".
    spec("SessionEnd", EventKind::SessionEnd, Some("reason"), PLAIN),
    spec(
        CALLBACK,
        EventKind::CanUseTool,
        Some("tool_name"),
        Expressible { decisions: DECISIONS, rewrite: true, system_message: false, halt: &[], ..PLAIN },
    ),
];

/// The name of the permission callback in configurations.
pub(super) const CALLBACK: &str = "canUseTool";

/// decisions.md#blades-canusetool: "the function's own names and its `options` are accepted too". The contract's names
/// are those of the hooks' own fields.
pub(super) const CALLBACK_ALIASES: &[(&str, &str)] = &[
    ("/toolName", "tool_name"),
    ("/input", "tool_input"),
    ("/toolInput", "tool_input"),
    ("/toolKind", "tool_kind"),
    ("/options/toolKind", "tool_kind"),
    ("/toolUseId", "tool_use_id"),
    ("/options/toolUseId", "tool_use_id"),
    ("/affectedPaths", "affected_paths"),
    ("/options/affectedPaths", "affected_paths"),
];

/// The row of all other events. Such an event may be blockable, so it counts as one.
pub(super) static OTHER: EventSpec =
    spec("", EventKind::OtherEvent, None, Expressible { decisions: DECISIONS, context: true, ..PLAIN });

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&["hook_event_name", "hook_execution_id"]),
        Mark::has(&["hook_event_name", "project_dir"]),
        Mark::has(&["hook_event_name", "user_prompt"]),
    ],
    proof: &[Mark::has(&["hook_event_name", "hook_execution_id"]), Mark::has(&["hook_event_name", "project_dir"])],
    home: None,
    shared: &[],
    env: &[],
};
