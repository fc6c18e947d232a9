//! The methods of `docs/spec/picoclaw.md`. `names` lists all typed parameters; no others are decoded.

use crate::{
    event::EventKind,
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks, ToolNames},
};

/// `PicoClaw`'s own names of tools, and Claude's.
pub(super) const TOOLS: &[ToolNames] = &[
    (&["exec"], &["Bash"]),
    (&["read_file"], &["Read"]),
    (&["write_file"], &["Write"]),
    (&["edit_file", "append_file"], &["Edit", "MultiEdit"]),
    (&["list_dir"], &["LS"]),
    (&["web_search"], &["WebSearch"]),
    (&["web_fetch"], &["WebFetch"]),
    (&["spawn", "subagent"], &["Agent", "Task"]),
];

/// The name of the handshake. picoclaw.md#hookhello: "The handshake has to be completed at start; otherwise the hook
/// process is ended."
pub const HELLO: &str = "hook.hello";
/// Something happened in the agent loop, in versions up to 0.2.8.
pub(super) const EVENT: &str = "hook.event";
/// The name of the same method in later versions.
pub(super) const RUNTIME_EVENT: &str = "hook.runtime_event";

/// The answer to a method that takes no answer.
const MUTE: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };

/// picoclaw.md#actions: "`abort_turn` | all interceptors | end the current turn with an error"; "`hard_abort` | all
/// interceptors | end the whole agent loop by force".
const INTERCEPTS: Expressible = Expressible { halt: &[Scope::Turn, Scope::Session], rewrite: true, ..MUTE };

const fn spec(name: &'static str, kind: EventKind) -> EventSpec {
    EventSpec { name, kind, matched: None, blockable: false, required: &[], fields: &[], names: &[], expressible: MUTE }
}

const fn intercept_row(
    name: &'static str,
    kind: EventKind,
    required: &'static [&'static str],
    names: &'static [(&'static str, &'static str)],
    expressible: Expressible,
) -> EventSpec {
    EventSpec { blockable: true, required, names, expressible, ..spec(name, kind) }
}

const CALL: &[(&str, &str)] = &[("tool", "tool_name"), ("arguments", "tool_input")];

pub(super) static SPECS: &[EventSpec] = &[
    spec(HELLO, EventKind::OtherEvent),
    intercept_row(
        "hook.before_llm",
        EventKind::BeforeLlm,
        &[],
        &[
            ("model", "model"),
            ("messages", "messages"),
            ("tools", "tools"),
            ("options", "options"),
            ("graceful_terminal", "graceful_terminal"),
        ],
        INTERCEPTS,
    ),
    intercept_row(
        "hook.after_llm",
        EventKind::AfterLlm,
        &[],
        &[("model", "model"), ("response", "response")],
        INTERCEPTS,
    ),
    intercept_row(
        "hook.before_tool",
        EventKind::PreToolUse,
        &["tool"],
        CALL,
        // picoclaw.md#actions: "`respond` | `before_tool`"; "`deny_tool` | `before_tool`".
        Expressible { decisions: &[DecisionKind::Deny, DecisionKind::Respond], ..INTERCEPTS },
    ),
    intercept_row(
        "hook.after_tool",
        EventKind::PostToolUse,
        &["tool"],
        &[("tool", "tool_name"), ("arguments", "tool_input"), ("result", "output"), ("duration", "duration_ns")],
        INTERCEPTS,
    ),
    intercept_row(
        "hook.approve_tool",
        EventKind::PermissionRequest,
        &["tool"],
        CALL,
        Expressible { decisions: &[DecisionKind::Allow, DecisionKind::Deny], ..MUTE },
    ),
    // An observer lists the event kinds that it wants.
    EventSpec { matched: Some("kind"), ..spec(EVENT, EventKind::AgentEvent) },
    EventSpec { matched: Some("kind"), ..spec(RUNTIME_EVENT, EventKind::AgentEvent) },
];

/// The row of all other methods. Such a method may be blockable, so it counts as one.
pub(super) static OTHER: EventSpec =
    intercept_row("", EventKind::OtherEvent, &[], &[], Expressible { rewrite: false, ..INTERCEPTS });

/// The meanings of an integer `Kind`, in the order of the client's own `EventKind` (`pkg/agent/events.go`).
/// decisions.md#the-real-picoclaw: "≤ v0.2.8 with an integer `Kind`, 0 = `turn_start`, 8 = `tool_exec_start`".
pub(super) const KINDS: [&str; 19] = [
    "turn_start",
    "turn_end",
    "llm_request",
    "llm_delta",
    "llm_response",
    "llm_retry",
    "context_compress",
    "session_summarize",
    "tool_exec_start",
    "tool_exec_end",
    "tool_exec_skipped",
    "steering_injected",
    "follow_up_queued",
    "interrupt_received",
    "subturn_spawn",
    "subturn_end",
    "subturn_result_delivered",
    "subturn_orphan",
    "error",
];

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[Mark::has(&["jsonrpc", "method"])],
    proof: &[Mark::has(&["jsonrpc", "method"])],
    home: None,
    shared: &[],
    env: &[],
};
