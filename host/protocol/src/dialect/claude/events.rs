//! The events of claude.md: "SDK 为代理执行的不同阶段提供钩子" and the tables of input and output fields.

use crate::{
    answer::{RuleKind, Scope},
    dialect::{EventRow, Says},
    event::Kind,
};

/// What every output can say: `continue`, `stopReason`, `suppressOutput`, `systemMessage`.
const PLAIN: Says =
    Says { rules: &[], rewrite: false, context: false, system_message: true, halt: &[Scope::Turn], env: false };

const fn row(name: &'static str, kind: Kind, says: Says) -> EventRow {
    EventRow { name, kind, matched: None, blockable: false, required: &[], names: &[], says }
}

/// claude.md: "匹配器仅适用于基于工具的钩子（PreToolUse、PostToolUse、PostToolUseFailure、PermissionRequest）" (matchers
/// apply only to the hooks about a tool).
const fn tool_row(
    name: &'static str,
    kind: Kind,
    names: &'static [(&'static str, &'static str)],
    says: Says,
) -> EventRow {
    EventRow { matched: Some("tool_name"), required: &["tool_name", "tool_input"], names, ..row(name, kind, says) }
}

const fn gate_row(
    name: &'static str,
    kind: Kind,
    names: &'static [(&'static str, &'static str)],
    context: bool,
) -> EventRow {
    EventRow { blockable: true, names, ..row(name, kind, Says { rules: &[RuleKind::Deny], context, ..PLAIN }) }
}

/// What the client calls the last answer.
const FINAL: &[(&str, &str)] = &[("last_assistant_message", "final_response")];

const fn rows(decisions: &'static [RuleKind]) -> [EventRow; 12] {
    [
        EventRow {
            blockable: true,
            ..tool_row(
                "PreToolUse",
                Kind::PreToolUse,
                &[],
                Says { rules: decisions, rewrite: true, context: true, ..PLAIN },
            )
        },
        EventRow {
            // The client hands `decision: "block"` to the model as feedback on the result.
            blockable: true,
            ..tool_row(
                "PostToolUse",
                Kind::PostToolUse,
                &[("tool_response", "output")],
                Says { rules: &[RuleKind::Deny], rewrite: true, context: true, ..PLAIN },
            )
        },
        tool_row("PostToolUseFailure", Kind::PostToolUseFailure, &[], Says { context: true, ..PLAIN }),
        EventRow { required: &["prompt"], ..gate_row("UserPromptSubmit", Kind::UserPromptSubmit, &[], true) },
        gate_row("Stop", Kind::Stop, FINAL, true),
        row("SubagentStart", Kind::SubagentStart, Says { context: true, ..PLAIN }),
        gate_row("SubagentStop", Kind::SubagentStop, FINAL, true),
        gate_row("PreCompact", Kind::PreCompact, &[], false),
        EventRow {
            blockable: true,
            ..tool_row(
                "PermissionRequest",
                Kind::PermissionRequest,
                &[],
                Says { rules: &[RuleKind::Allow, RuleKind::Ask, RuleKind::Deny], rewrite: true, ..PLAIN },
            )
        },
        row("SessionStart", Kind::SessionStart, Says { context: true, ..PLAIN }),
        row("SessionEnd", Kind::SessionEnd, PLAIN),
        row("Notification", Kind::Notification, Says { context: true, ..PLAIN }),
    ]
}

pub(super) static DOCUMENTED: &[EventRow] = &rows(&[RuleKind::Allow, RuleKind::Ask, RuleKind::Deny]);

/// decisions.md: "Precedence there is deny > defer > ask > allow".
pub(super) static OBSERVED: &[EventRow] = &rows(&[RuleKind::Allow, RuleKind::Ask, RuleKind::Defer, RuleKind::Deny]);

/// decisions.md: "Events beyond the seed's twelve reach a hook through the generic event interface … and merge by the
/// common rules." Whether such an event can be blocked is not known, so it counts as one that can.
pub(super) static OTHER: EventRow = EventRow {
    blockable: true,
    ..row(
        "",
        Kind::OtherEvent,
        Says { rules: &[RuleKind::Allow, RuleKind::Ask, RuleKind::Deny], context: true, ..PLAIN },
    )
};
