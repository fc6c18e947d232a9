//! The events of blade-config.md: "Hook 生命周期" (which can be blocked), "Matcher 模式" (what matchers are held against)
//! and "Hook 事件详解" (input and output fields).

use crate::{
    dialect::{EventSpec, Expressible},
    event::EventKind,
    output::{DecisionKind, Scope},
};

/// What every output can say: `continue`, `stopReason`, `suppressOutput`, `systemMessage`.
const PLAIN: Expressible = Expressible {
    decisions: &[],
    rewrite: false,
    context: false,
    system_message: true,
    halt: &[Scope::Turn],
    env: false,
};

const GATE: Expressible = Expressible { decisions: &[DecisionKind::Deny], ..PLAIN };

const DECISIONS: &[DecisionKind] = &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny];

const fn spec(
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
        names: &[],
        expressible,
    }
}

/// blade-config.md: "`PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `PermissionRequest` | 工具名称" (matched by the
/// tool's name).
const fn tool_spec(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    EventSpec { required: &["tool_name", "tool_input"], ..spec(name, kind, Some("tool_name"), expressible) }
}

pub(super) static SPECS: &[EventSpec] = &[
    // "会话启动方式" (how the session began).
    spec("SessionStart", EventKind::SessionStart, Some("source"), Expressible { context: true, env: true, ..PLAIN }),
    // "`UserPromptSubmit`, `Stop`, `TaskCompleted` | 不支持匹配器" (take no matcher).
    EventSpec {
        required: &["user_prompt"],
        names: &[("user_prompt", "prompt")],
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
        names: &[("tool_output", "output")],
        ..tool_spec("PostToolUse", EventKind::PostToolUse, Expressible { rewrite: true, context: true, ..PLAIN })
    },
    tool_spec("PostToolUseFailure", EventKind::PostToolUseFailure, PLAIN),
    // "通知类型" (the kind of notification).
    spec("Notification", EventKind::Notification, Some("notification_type"), PLAIN),
    // "Agent 类型" (the kind of agent).
    spec("SubagentStart", EventKind::SubagentStart, Some("agent_type"), Expressible { context: true, ..PLAIN }),
    spec("SubagentStop", EventKind::SubagentStop, Some("agent_type"), Expressible { context: true, ..GATE }),
    spec("Stop", EventKind::Stop, None, Expressible { context: true, ..GATE }),
    spec("TaskCompleted", EventKind::TaskCompleted, None, GATE),
    // "触发方式" (what caused it). decisions.md: "`Compaction` is "not blockable" in the table but has `blockCompaction`;
    // the field wins."
    spec("Compaction", EventKind::PreCompact, Some("trigger"), GATE),
    // "会话结束原因" (why the session ended).
    spec("SessionEnd", EventKind::SessionEnd, Some("reason"), PLAIN),
    EventSpec {
        required: &["tool_name", "tool_input"],
        ..spec(
            CALLBACK,
            EventKind::CanUseTool,
            Some("tool_name"),
            Expressible { decisions: DECISIONS, rewrite: true, system_message: false, halt: &[], ..PLAIN },
        )
    },
];

/// The callback beside the hooks, as configurations name it.
pub(super) const CALLBACK: &str = "canUseTool";

/// blade-config.md: "canUseTool: async (toolName, input, options)", "options 包含: toolKind, toolUseId" (the callback's
/// arguments, as they look when a client writes them down). Our names are those of the hooks' own fields.
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

/// Events the specification does not name: whether one can be blocked is not known, so it counts as one that can.
pub(super) static OTHER: EventSpec =
    spec("", EventKind::OtherEvent, None, Expressible { decisions: DECISIONS, context: true, ..PLAIN });
