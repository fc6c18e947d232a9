//! The events of blade-config.md: "Hook 生命周期" (which can be blocked), "Matcher 模式" (what matchers are held against)
//! and "Hook 事件详解" (input and output fields).

use crate::{
    answer::{RuleKind, Scope},
    dialect::{EventRow, Says},
    event::Kind,
};

/// What every output can say: `continue`, `stopReason`, `suppressOutput`, `systemMessage`.
const PLAIN: Says =
    Says { rules: &[], rewrite: false, context: false, system_message: true, halt: &[Scope::Turn], env: false };

const GATE: Says = Says { rules: &[RuleKind::Deny], ..PLAIN };

const DECISIONS: &[RuleKind] = &[RuleKind::Allow, RuleKind::Ask, RuleKind::Deny];

const fn row(name: &'static str, kind: Kind, matched: Option<&'static str>, says: Says) -> EventRow {
    EventRow { name, kind, matched, blockable: !says.rules.is_empty(), required: &[], names: &[], says }
}

/// blade-config.md: "`PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `PermissionRequest` | 工具名称" (matched by the
/// tool's name).
const fn tool_row(name: &'static str, kind: Kind, says: Says) -> EventRow {
    EventRow { required: &["tool_name", "tool_input"], ..row(name, kind, Some("tool_name"), says) }
}

pub(super) static ROWS: &[EventRow] = &[
    // "会话启动方式" (how the session began).
    row("SessionStart", Kind::SessionStart, Some("source"), Says { context: true, env: true, ..PLAIN }),
    // "`UserPromptSubmit`, `Stop`, `TaskCompleted` | 不支持匹配器" (take no matcher).
    EventRow {
        required: &["user_prompt"],
        names: &[("user_prompt", "prompt")],
        ..row("UserPromptSubmit", Kind::UserPromptSubmit, None, Says { rewrite: true, context: true, ..GATE })
    },
    tool_row("PreToolUse", Kind::PreToolUse, Says { rules: DECISIONS, rewrite: true, context: true, ..PLAIN }),
    tool_row("PermissionRequest", Kind::PermissionRequest, Says { rules: DECISIONS, ..PLAIN }),
    EventRow {
        names: &[("tool_output", "output")],
        ..tool_row("PostToolUse", Kind::PostToolUse, Says { rewrite: true, context: true, ..PLAIN })
    },
    tool_row("PostToolUseFailure", Kind::PostToolUseFailure, PLAIN),
    // "通知类型" (the kind of notification).
    row("Notification", Kind::Notification, Some("notification_type"), PLAIN),
    // "Agent 类型" (the kind of agent).
    row("SubagentStart", Kind::SubagentStart, Some("agent_type"), Says { context: true, ..PLAIN }),
    row("SubagentStop", Kind::SubagentStop, Some("agent_type"), Says { context: true, ..GATE }),
    row("Stop", Kind::Stop, None, Says { context: true, ..GATE }),
    row("TaskCompleted", Kind::TaskCompleted, None, GATE),
    // "触发方式" (what caused it). decisions.md: "`Compaction` is "not blockable" in the table but has `blockCompaction`;
    // the field wins."
    row("Compaction", Kind::PreCompact, Some("trigger"), GATE),
    // "会话结束原因" (why the session ended).
    row("SessionEnd", Kind::SessionEnd, Some("reason"), PLAIN),
    EventRow {
        required: &["tool_name", "tool_input"],
        ..row(
            CALLBACK,
            Kind::CanUseTool,
            Some("tool_name"),
            Says { rules: DECISIONS, rewrite: true, system_message: false, halt: &[], ..PLAIN },
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
pub(super) static OTHER: EventRow = row("", Kind::OtherEvent, None, Says { rules: DECISIONS, context: true, ..PLAIN });
