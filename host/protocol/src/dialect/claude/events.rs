//! The events of `docs/spec/claude.md`, with their tables of input and output fields.

use crate::{
    event::EventKind,
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks, Usage},
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

/// claude.md#input: the event's own fields, besides the names of [`SPECS`](DOCUMENTED) and the fields of a tool call.
const fn fields(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::PostToolUseFailure => &["error", "is_interrupt"],
        EventKind::UserPromptSubmit => &["prompt"],
        EventKind::Stop => &["stop_hook_active"],
        EventKind::SubagentStart => &["agent_type"],
        // claude-events-now.md has the agent's type on this event too.
        EventKind::SubagentStop => &["stop_hook_active", "agent_type", "agent_transcript_path"],
        EventKind::PreCompact => &["trigger", "custom_instructions"],
        EventKind::PermissionRequest => &["permission_suggestions"],
        EventKind::SessionStart => &["source"],
        EventKind::SessionEnd => &["reason"],
        EventKind::Notification => &["message", "notification_type", "title"],
        _ => &[],
    }
}

const fn spec(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    EventSpec {
        name,
        kind,
        matched: None,
        blockable: false,
        required: &[],
        fields: fields(kind),
        names: &[],
        expressible,
    }
}

/// claude.md#matchers: "Matchers apply to events about a tool only: `PreToolUse`, `PostToolUse`, `PostToolUseFailure`,
/// `PermissionRequest`."
const fn tool_spec(
    name: &'static str,
    kind: EventKind,
    names: &'static [(&'static str, &'static str)],
    expressible: Expressible,
) -> EventSpec {
    EventSpec {
        matched: Some("tool_name"),
        required: &["tool_name", "tool_input"],
        names,
        ..spec(name, kind, expressible)
    }
}

const fn gate_spec(
    name: &'static str,
    kind: EventKind,
    names: &'static [(&'static str, &'static str)],
    context: bool,
) -> EventSpec {
    EventSpec {
        blockable: true,
        names,
        ..spec(name, kind, Expressible { decisions: &[DecisionKind::Deny], context, ..PLAIN })
    }
}

/// The client's name of the last answer.
const FINAL: &[(&str, &str)] = &[("last_assistant_message", "final_response")];

const fn specs(decisions: &'static [DecisionKind]) -> [EventSpec; 12] {
    [
        EventSpec {
            blockable: true,
            ..tool_spec(
                "PreToolUse",
                EventKind::PreToolUse,
                &[],
                Expressible { decisions, rewrite: true, context: true, ..PLAIN },
            )
        },
        EventSpec {
            // The client gives `decision: "block"` to the model as feedback on the result.
            blockable: true,
            ..tool_spec(
                "PostToolUse",
                EventKind::PostToolUse,
                &[("tool_response", "output")],
                Expressible { decisions: &[DecisionKind::Deny], rewrite: true, context: true, ..PLAIN },
            )
        },
        tool_spec("PostToolUseFailure", EventKind::PostToolUseFailure, &[], Expressible { context: true, ..PLAIN }),
        EventSpec { required: &["prompt"], ..gate_spec("UserPromptSubmit", EventKind::UserPromptSubmit, &[], true) },
        gate_spec("Stop", EventKind::Stop, FINAL, true),
        spec("SubagentStart", EventKind::SubagentStart, Expressible { context: true, ..PLAIN }),
        gate_spec("SubagentStop", EventKind::SubagentStop, FINAL, true),
        gate_spec("PreCompact", EventKind::PreCompact, &[], false),
        EventSpec {
            blockable: true,
            ..tool_spec(
                "PermissionRequest",
                EventKind::PermissionRequest,
                &[],
                Expressible {
                    decisions: &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny],
                    rewrite: true,
                    ..PLAIN
                },
            )
        },
        spec("SessionStart", EventKind::SessionStart, Expressible { context: true, ..PLAIN }),
        spec("SessionEnd", EventKind::SessionEnd, PLAIN),
        spec("Notification", EventKind::Notification, Expressible { context: true, ..PLAIN }),
    ]
}

pub(super) static DOCUMENTED: &[EventSpec] = &specs(&[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny]);

/// decisions.md#the-real-claude-code: "Precedence there is deny > defer > ask > allow".
pub(super) static OBSERVED: &[EventSpec] =
    &specs(&[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Defer, DecisionKind::Deny]);

/// The row of all other events. decisions.md#what-every-dialect-shares: "Events beyond the specification reach a hook
/// through the generic event interface (name + JSON in, JSON out) and through command handlers, and merge by the common
/// rules." Such an event may be blockable, so it counts as one.
pub(super) static OTHER: EventSpec = EventSpec {
    blockable: true,
    ..spec(
        "",
        EventKind::OtherEvent,
        Expressible {
            decisions: &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny],
            context: true,
            ..PLAIN
        },
    )
};

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&["hook_event_name", "prompt_id"]),
        Mark::has(&["hook_event_name", "effort"]),
        Mark::has(&["hook_event_name", "seconds_since_last_response"]),
    ],
    proof: &[
        Mark::has(&["hook_event_name", "prompt_id"]),
        Mark::has(&["hook_event_name", "effort"]),
        Mark::has(&["hook_event_name", "seconds_since_last_response"]),
    ],
    home: Some(".claude"),
    shared: &[Mark::has(&["hook_event_name"])],
    env: &["CLAUDECODE"],
};

/// Claude Code's own tools, including those of older versions.
pub(super) const USAGE: Usage = Usage {
    tools: &[
        "Agent",
        "AskUserQuestion",
        "Bash",
        "BashOutput",
        "CronCreate",
        "CronDelete",
        "CronList",
        "Delete",
        "Edit",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "Glob",
        "Grep",
        "KillBash",
        "KillShell",
        "LS",
        "LSP",
        "ListMcpResourcesTool",
        "Monitor",
        "MultiEdit",
        "NotebookEdit",
        "NotebookRead",
        "PowerShell",
        "Read",
        "ReadMcpResourceTool",
        "SendMessage",
        "Skill",
        "SlashCommand",
        "StructuredOutput",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TeamCreate",
        "TeamDelete",
        "TodoRead",
        "TodoWrite",
        "ToolSearch",
        "WebFetch",
        "WebSearch",
        "Write",
    ],
    renamed: &[("Task", "Agent")],
    milliseconds_from: None,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    // `claude-events-now.md`
    later_events: &[
        "PostToolBatch",
        "UserPromptExpansion",
        "StopFailure",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "PermissionDenied",
        "Setup",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "Elicitation",
        "ElicitationResult",
        "ConfigChange",
        "WorktreeCreate",
        "WorktreeRemove",
        "InstructionsLoaded",
        "CwdChanged",
        "FileChanged",
        "DirectoryAdded",
        "MessageDisplay",
    ],
    own_keys: &[],
};
