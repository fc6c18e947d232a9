//! The events of opencode.md#events.

use crate::{
    event::{EventKind, Input},
    output::DecisionKind,
    protocol::{EventSpec, Expressible, Mark, Marks, Usage},
};

const NOTHING: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };
/// opencode.md#answers: "A denial is the only decision that OpenCode has a word for: the plugin throws."
const GATE: Expressible = Expressible { decisions: &[DecisionKind::Deny], rewrite: true, context: true, ..NOTHING };

const fn event(name: &'static str, kind: EventKind, expressible: Expressible) -> EventSpec {
    let blockable = !expressible.decisions.is_empty();
    EventSpec {
        name,
        kind,
        matched: None,
        blockable,
        required: &[],
        fields: Input::fields(kind),
        names: &[],
        expressible,
    }
}

pub(super) static SPECS: &[EventSpec] = &[
    EventSpec { matched: Some("tool_name"), ..event("PreToolUse", EventKind::PreToolUse, GATE) },
    EventSpec {
        matched: Some("tool_name"),
        names: &[("tool_response", "output")],
        ..event("PostToolUse", EventKind::PostToolUse, GATE)
    },
    event("UserPromptSubmit", EventKind::UserPromptSubmit, GATE),
    event("SessionStart", EventKind::SessionStart, Expressible { context: true, ..NOTHING }),
    event("Stop", EventKind::Stop, NOTHING),
];

/// The row of all other events. opencode.md#events: "Every other event is an other-event, and can only be watched."
pub(super) static OTHER: EventSpec = event("", EventKind::OtherEvent, NOTHING);

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&["input", "output"]).lacks(&["hook_event_name", "event", "toolName"]),
        Mark::has(&["hook_event_name", "opencode_plugin"]),
    ],
    proof: &[
        Mark::has(&["input", "output"]).lacks(&["hook_event_name", "event", "toolName"]),
        Mark::has(&["hook_event_name", "opencode_plugin"]),
    ],
    home: None,
    shared: &[Mark::has(&["hook_event_name"])],
    env: &[],
};

/// OpenCode's own tools.
pub(super) const USAGE: Usage = Usage {
    tools: &[
        "apply_patch",
        "bash",
        "batch",
        "codesearch",
        "edit",
        "glob",
        "grep",
        "list",
        "lsp",
        "multiedit",
        "patch",
        "plan_enter",
        "plan_exit",
        "question",
        "read",
        "skill",
        "task",
        "todoread",
        "todowrite",
        "webfetch",
        "websearch",
        "write",
    ],
    renamed: &[],
    milliseconds_from: None,
    project_variable: None,
    later_events: &[],
    own_keys: &[],
};
