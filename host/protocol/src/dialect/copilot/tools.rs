//! The names of tools in Copilot and in Claude Code.

use crate::protocol::{ToolNames, Usage};

/// copilot.md#tool-names, in the same order: Copilot's own names, and Claude's.
pub(super) const TOOLS: &[ToolNames] = &[
    (&["bash", "powershell"], &["Bash"]),
    (&["view"], &["Read"]),
    (&["create"], &["Write"]),
    (&["edit", "str_replace_editor", "apply_patch"], &["Edit"]),
    (&["grep", "rg"], &["Grep"]),
    (&["glob"], &["Glob"]),
    (&["web_fetch"], &["WebFetch"]),
    (&["web_search"], &["WebSearch"]),
    (&["ask_user"], &["AskUserQuestion"]),
    (&["update_todo"], &["TodoWrite"]),
    (&["task"], &["Agent", "Task"]),
];

/// Copilot's own tools, under both names.
pub(super) const USAGE: Usage = Usage {
    tools: &[
        "Agent",
        "AskUserQuestion",
        "Bash",
        "Edit",
        "Glob",
        "Grep",
        "Read",
        "Task",
        "TodoWrite",
        "WebFetch",
        "WebSearch",
        "Write",
        "apply_patch",
        "ask_user",
        "bash",
        "create",
        "edit",
        "fetch_copilot_cli_documentation",
        "glob",
        "grep",
        "list_bash",
        "powershell",
        "read_bash",
        "report_intent",
        "rg",
        "skill",
        "sql",
        "stop_bash",
        "store_memory",
        "str_replace_editor",
        "task",
        "update_todo",
        "view",
        "web_fetch",
        "web_search",
        "write_bash",
    ],
    renamed: &[],
    milliseconds_from: None,
    project_variable: Some("COPILOT_PROJECT_DIR"),
    own_keys: &[],
};
