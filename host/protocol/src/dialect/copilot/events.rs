//! The events of copilot.md#events, each with its fields in both forms of its payload.

use crate::{
    event::{EventKind, Input},
    output::DecisionKind,
    protocol::{EventSpec, Expressible, Mark, Marks},
};

/// Wire names that differ from the contract's, as (wire, contract) pairs.
type Names = &'static [(&'static str, &'static str)];

/// The context fields of payloads in camelCase. Their `timestamp` is in milliseconds, and the contract's is a text.
pub(super) const CAMEL_CONTEXT: Names = &[
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("agentId", "agent_id"),
    ("timestamp", "timestamp_ms"),
];

const NOTHING: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };
const CONTEXT: Expressible = Expressible { context: true, ..NOTHING };
const BLOCK: Expressible = Expressible { decisions: &[DecisionKind::Deny], ..NOTHING };
const BLOCK_OR_CHANGE: Expressible = Expressible { rewrite: true, context: true, ..BLOCK };
const DECIDE: &[DecisionKind] = &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny];

/// Makes the row of an event, with its name and fields in camelCase or in Claude's form.
const fn event(
    camel: bool,
    [in_camel, in_pascal]: [&'static str; 2],
    kind: EventKind,
    [camel_names, pascal_names]: [Names; 2],
    expressible: Expressible,
) -> EventSpec {
    let (name, names) = if camel { (in_camel, camel_names) } else { (in_pascal, pascal_names) };
    let blockable = !expressible.decisions.is_empty();
    EventSpec { name, kind, matched: None, blockable, required: &[], fields: Input::fields(kind), names, expressible }
}

/// Adds the field that matchers are compared with.
const fn matching(field: &'static str, spec: EventSpec) -> EventSpec {
    EventSpec { matched: Some(field), ..spec }
}

const TOOL: Names = &[("toolName", "tool_name"), ("toolArgs", "tool_input")];
const RESULT: [Names; 2] =
    [&[("toolName", "tool_name"), ("toolArgs", "tool_input"), ("toolResult", "output")], &[("tool_result", "output")]];
const REQUEST: Names =
    &[("toolName", "tool_name"), ("toolInput", "tool_input"), ("permissionSuggestions", "permission_suggestions")];
/// The fields of a subagent's start. Matchers are compared with the agent's name. Only some versions send its type too.
///
/// copilot.md#payloads: "Under the one in PascalCase its `agent_id`, `agent_type` and `parent_agent_id` are in Claude's
/// form too."
const START: [Names; 2] = [
    &[("agentName", "agent_type"), ("parentAgentId", "parent_agent_id")],
    &[("sessionId", "session_id"), ("transcriptPath", "transcript_path"), ("timestamp", "timestamp_ms")],
];
const STOP: [Names; 2] =
    [&[("response", "final_response"), ("agentType", "agent_type")], &[("last_assistant_message", "final_response")]];

/// The rows of copilot.md#events, in the same order.
const fn specs(camel: bool) -> [EventSpec; 14] {
    use EventKind as Kind;
    let transformed = Expressible { rewrite: true, ..NOTHING };
    let tool = Expressible { decisions: DECIDE, ..BLOCK_OR_CHANGE };
    // decisions.md#copilot: "An ask prints nothing there: the client asks."
    let permission = Expressible { decisions: DECIDE, ..NOTHING };
    let subagent = Expressible { rewrite: true, ..BLOCK };
    let stop: [Names; 2] = [&[("stopReason", "stop_reason")], &[]];
    let compact: [Names; 2] = [&[("customInstructions", "custom_instructions")], &[]];
    [
        event(camel, ["sessionStart", "SessionStart"], Kind::SessionStart, [&[]; 2], CONTEXT),
        event(camel, ["sessionEnd", "SessionEnd"], Kind::SessionEnd, [&[]; 2], NOTHING),
        event(camel, ["userPromptSubmitted", "UserPromptSubmit"], Kind::UserPromptSubmit, [&[]; 2], BLOCK_OR_CHANGE),
        event(camel, ["userPromptTransformed", "UserPromptTransformed"], Kind::OtherEvent, [&[]; 2], transformed),
        matching("tool_name", event(camel, ["preToolUse", "PreToolUse"], Kind::PreToolUse, [TOOL, &[]], tool)),
        matching("tool_name", event(camel, ["postToolUse", "PostToolUse"], Kind::PostToolUse, RESULT, BLOCK_OR_CHANGE)),
        event(camel, ["postToolUseFailure", "PostToolUseFailure"], Kind::PostToolUseFailure, [TOOL, &[]], CONTEXT),
        matching(
            "tool_name",
            event(
                camel,
                ["permissionRequest", "PermissionRequest"],
                Kind::PermissionRequest,
                [REQUEST, &[]],
                permission,
            ),
        ),
        event(camel, ["agentStop", "Stop"], Kind::Stop, stop, BLOCK),
        matching("agent_type", event(camel, ["subagentStart", "SubagentStart"], Kind::SubagentStart, START, CONTEXT)),
        event(camel, ["subagentStop", "SubagentStop"], Kind::SubagentStop, STOP, subagent),
        event(camel, ["errorOccurred", "ErrorOccurred"], Kind::OtherEvent, [&[]; 2], NOTHING),
        matching("trigger", event(camel, ["preCompact", "PreCompact"], Kind::PreCompact, compact, NOTHING)),
        matching(
            "notification_type",
            event(camel, ["notification", "Notification"], Kind::Notification, [&[]; 2], CONTEXT),
        ),
    ]
}

/// The rows by their names in camelCase, which are Copilot's own.
pub(super) static SPECS: &[EventSpec] = &specs(true);

/// The same rows in the same order, by their names in PascalCase and with Claude's fields.
static PASCAL: &[EventSpec] = &specs(false);

/// The row of all other events. decisions.md#copilot: "An event beyond the specification accepts `decision: "block"`
/// with a reason, and `additionalContext`. It counts as one that can be blocked, because that is unknown."
pub(super) static OTHER: EventSpec =
    event(true, ["", ""], EventKind::OtherEvent, [&[]; 2], Expressible { context: true, ..BLOCK });

/// The row of the event with this name, in either spelling.
pub(super) fn by_name(name: &str) -> Option<&'static EventSpec> {
    both(name).map(|(camel, _)| camel)
}

/// The row of the event with this name, with its fields in Claude's form.
pub(super) fn pascal_by_name(name: &str) -> Option<&'static EventSpec> {
    both(name).map(|(_, pascal)| pascal)
}

fn both(name: &str) -> Option<(&'static EventSpec, &'static EventSpec)> {
    SPECS.iter().zip(PASCAL).find(|(camel, pascal)| camel.name == name || pascal.name == name)
}

/// The signs of this client's payloads.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&["sessionId"]).lacks(&["event", "hook_event_name"]),
        Mark::has(&["sessionId", "timestamp"]).of(&["Notification"]),
        Mark::has(&["toolArgs"]),
        Mark::has(&["hookName"]),
        Mark::has(&["hook_event_name", "session_id", "timestamp", "cwd"]).lacks(&[
            "transcript_path",
            "project_dir",
            "hook_execution_id",
        ]),
        Mark::has(&["hook_event_name", "session_id", "timestamp", "cwd"])
            .lacks(&["project_dir", "hook_execution_id"])
            .of(&["Stop", "SubagentStop", "PreCompact"]),
    ],
    proof: &[
        Mark::has(&["toolArgs"]),
        Mark::has(&["hookName"]),
        Mark::has(&["sessionId", "timestamp", "cwd"]).lacks(&["event", "hook_event_name", "toolInput"]),
    ],
    home: Some(".copilot"),
    shared: &[],
    env: &["COPILOT_PROJECT_DIR"],
};
