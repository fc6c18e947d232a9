//! The events of gemini.md, and the fields that an answer to each can have.

use crate::{
    event::EventKind,
    output::{DecisionKind, Scope},
    protocol::{EventSpec, Expressible, Mark, Marks, Usage},
};

const MUTE: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };

/// gemini.md#decisions: "`systemMessage` is shown to the user."
const PLAIN: Expressible = Expressible { system_message: true, ..MUTE };

/// gemini.md#decisions: "`continue: false` ends the run; nothing more is sent to the model."
const GATE: Expressible = Expressible { decisions: &[DecisionKind::Deny], halt: &[Scope::Turn], ..PLAIN };

/// gemini.md#events: an event's own fields, besides the names of [`SPECS`] and the fields of a tool call.
/// [`super::model`] reads the fields of `llm_request`.
const fn fields(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::SessionStart => &["source"],
        EventKind::SessionEnd => &["reason"],
        EventKind::UserPromptSubmit => &["prompt"],
        EventKind::Stop => &["stop_hook_active"],
        EventKind::PreCompact => &["trigger"],
        EventKind::Notification => &["notification_type", "message"],
        _ => &[],
    }
}

const fn spec(
    name: &'static str,
    kind: EventKind,
    matched: Option<&'static str>,
    expressible: Expressible,
) -> EventSpec {
    let blockable = !expressible.decisions.is_empty();
    EventSpec { name, kind, matched, blockable, required: &[], names: &[], fields: fields(kind), expressible }
}

/// The event whose answer selects tools.
pub(super) const SELECTION: &str = "BeforeToolSelection";

pub(super) static SPECS: &[EventSpec] = &[
    spec("SessionStart", EventKind::SessionStart, Some("source"), Expressible { context: true, ..PLAIN }),
    spec("SessionEnd", EventKind::SessionEnd, Some("reason"), PLAIN),
    EventSpec {
        required: &["prompt"],
        ..spec("BeforeAgent", EventKind::UserPromptSubmit, None, Expressible { context: true, ..GATE })
    },
    EventSpec { names: &[("prompt_response", "final_response")], ..spec("AfterAgent", EventKind::Stop, None, GATE) },
    spec("BeforeModel", EventKind::BeforeLlm, None, Expressible { rewrite: true, ..GATE }),
    EventSpec {
        names: &[("llm_response", "response")],
        ..spec("AfterModel", EventKind::AfterLlm, None, Expressible { rewrite: true, ..GATE })
    },
    // gemini.md#beforetoolselection: "Any JSON answer, `{}` too, sets the mode `AUTO` with no names."
    spec(SELECTION, EventKind::OtherEvent, None, MUTE),
    EventSpec {
        required: &["tool_name"],
        ..spec(
            "BeforeTool",
            EventKind::PreToolUse,
            Some("tool_name"),
            Expressible {
                decisions: &[DecisionKind::Allow, DecisionKind::Ask, DecisionKind::Deny],
                rewrite: true,
                ..GATE
            },
        )
    },
    EventSpec {
        required: &["tool_name"],
        names: &[("tool_response", "output")],
        ..spec(
            "AfterTool",
            EventKind::PostToolUse,
            Some("tool_name"),
            Expressible { rewrite: true, context: true, ..GATE },
        )
    },
    spec("PreCompress", EventKind::PreCompact, Some("trigger"), PLAIN),
    spec("Notification", EventKind::Notification, Some("notification_type"), PLAIN),
];

/// The row of all other events. Gemini CLI treats them like the known ones.
pub(super) static OTHER: EventSpec = spec("", EventKind::OtherEvent, None, GATE);

/// The signs of this client's payloads: its own event names, or the fields that it adds to events with common names.
pub(super) const MARKS: Marks = Marks {
    own: &[
        Mark::has(&[]).of(&[
            "BeforeAgent",
            "AfterAgent",
            "BeforeModel",
            "AfterModel",
            SELECTION,
            "BeforeTool",
            "AfterTool",
            "PreCompress",
        ]),
        Mark::has(&["timestamp", "transcript_path"]).lacks(&["project_dir", "hook_execution_id"]).of(&[
            "SessionStart",
            "SessionEnd",
            "Notification",
        ]),
    ],
    proof: &[Mark::has(&[]).of(&[
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        SELECTION,
        "BeforeTool",
        "AfterTool",
        "PreCompress",
    ])],
    home: Some(".gemini"),
    shared: &[],
    env: &["GEMINI_PROJECT_DIR"],
};

/// Gemini CLI's own tools.
pub(super) const USAGE: Usage = Usage {
    tools: &[
        "activate_skill",
        "ask_user",
        "cli_help",
        "codebase_investigator",
        "delegate_to_agent",
        "enter_plan_mode",
        "exit_plan_mode",
        "get_internal_docs",
        "glob",
        "google_web_search",
        "grep_search",
        "list_directory",
        "read_file",
        "read_many_files",
        "replace",
        "run_shell_command",
        "save_memory",
        "search_file_content",
        "web_fetch",
        "write_file",
        "write_todos",
    ],
    renamed: &[],
    milliseconds_from: None,
    project_variable: Some("GEMINI_PROJECT_DIR"),
    later_events: &[],
    own_keys: &[],
};
