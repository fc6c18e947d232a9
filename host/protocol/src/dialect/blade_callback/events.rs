//! The events of `docs/spec/blade-callback.md`, each with the fields of its input.

use crate::{
    event::{EventKind, Input},
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks},
};

/// The permission callback's name on the wire.
pub(super) const CAN_USE_TOOL: &str = "canUseTool";

/// The context fields of every event, besides `event`.
pub(super) const ORIGIN: &[(&str, &str)] = &[("sessionId", "session_id")];

const TOOL: &[(&str, &str)] = &[("toolName", "tool_name"), ("toolInput", "tool_input")];

/// The fields that every output has. blade-callback.md#output: "`action` | `continue`, `skip` or `abort` | required";
/// "`abort` | end the whole session".
const PLAIN: Expressible = Expressible {
    decisions: &[DecisionKind::Skip],
    rewrite: false,
    context: false,
    system_message: false,
    halt: &[Scope::Session],
    env: false,
};

/// blade-observed.md#what-blade-callbackobserved-says: "A block is `skip` on `PreToolUse` and `PermissionRequest`, and
/// `abort` on every other event."
const ABORTS: Expressible = Expressible { decisions: &[], ..PLAIN };

const RESULT: &[(&str, &str)] = &[("toolName", "tool_name"), ("toolInput", "tool_input"), ("toolOutput", "output")];

const fn spec(name: &'static str, kind: EventKind) -> EventSpec {
    EventSpec {
        name,
        kind,
        matched: None,
        blockable: false,
        required: &[],
        fields: Input::fields(kind),
        names: &[],
        expressible: PLAIN,
    }
}

const fn tool_spec(name: &'static str, kind: EventKind) -> EventSpec {
    EventSpec { matched: Some("tool_name"), names: TOOL, ..spec(name, kind) }
}

const SESSION_START: EventSpec =
    EventSpec { names: &[("isResume", "is_resume")], ..spec("SessionStart", EventKind::SessionStart) };

const USER_PROMPT_SUBMIT: EventSpec = EventSpec {
    blockable: true,
    names: &[("message", "prompt"), ("hasImages", "has_images"), ("imageCount", "image_count")],
    ..spec("UserPromptSubmit", EventKind::UserPromptSubmit)
};

const PRE_TOOL_USE: EventSpec = EventSpec {
    blockable: true,
    expressible: Expressible { rewrite: true, ..PLAIN },
    ..tool_spec("PreToolUse", EventKind::PreToolUse)
};

const POST_TOOL_USE: EventSpec = EventSpec {
    names: RESULT,
    expressible: Expressible { rewrite: true, ..PLAIN },
    ..tool_spec("PostToolUse", EventKind::PostToolUse)
};

const POST_TOOL_USE_FAILURE: EventSpec = tool_spec("PostToolUseFailure", EventKind::PostToolUseFailure);

const PERMISSION_REQUEST: EventSpec =
    EventSpec { blockable: true, ..tool_spec("PermissionRequest", EventKind::PermissionRequest) };

const TASK_COMPLETED: EventSpec = EventSpec {
    names: &[("taskId", "task_id"), ("taskDescription", "task_description"), ("resultSummary", "result_summary")],
    ..spec("TaskCompleted", EventKind::TaskCompleted)
};

const SESSION_END: EventSpec = spec("SessionEnd", EventKind::SessionEnd);

const CALLBACK: EventSpec = EventSpec {
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
    ..tool_spec(CAN_USE_TOOL, EventKind::CanUseTool)
};

/// Makes the row of an event that only `abort` can block.
const fn aborts(rewrite: bool, spec: &EventSpec) -> EventSpec {
    EventSpec { blockable: true, expressible: Expressible { rewrite, ..ABORTS }, ..*spec }
}

pub(super) static DOCUMENTED: &[EventSpec] = &[
    SESSION_START,
    USER_PROMPT_SUBMIT,
    PRE_TOOL_USE,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PERMISSION_REQUEST,
    TASK_COMPLETED,
    SESSION_END,
    CALLBACK,
];

pub(super) static OBSERVED: &[EventSpec] = &[
    aborts(false, &SESSION_START),
    aborts(true, &USER_PROMPT_SUBMIT),
    PRE_TOOL_USE,
    aborts(true, &POST_TOOL_USE),
    aborts(true, &POST_TOOL_USE_FAILURE),
    PERMISSION_REQUEST,
    aborts(false, &TASK_COMPLETED),
    aborts(false, &SESSION_END),
    CALLBACK,
];

/// The row of all other events. Such an event may be blockable, so it counts as one.
pub(super) static OTHER: EventSpec = EventSpec { blockable: true, ..spec("", EventKind::OtherEvent) };

pub(super) static OTHER_OBSERVED: EventSpec = aborts(false, &spec("", EventKind::OtherEvent));

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&["event", "sessionId"]).lacks(&["hook_event_name"]),
        Mark::has(&["event", "toolName"]).lacks(&["hook_event_name"]),
    ],
    proof: &[
        Mark::has(&["event", "sessionId"]).lacks(&["hook_event_name", "toolArgs", "hookName"]),
        Mark::has(&["event", "toolName"]).lacks(&["hook_event_name", "toolArgs", "hookName"]),
    ],
    home: None,
    shared: &[],
    env: &[],
};
