//! The names of tools in Gemini CLI and in Claude Code.

use crate::protocol::ToolNames;

/// decisions.md#gemini: "A matcher may name a tool as Claude Code does".
pub(super) const TOOLS: &[ToolNames] = &[
    (&["run_shell_command"], &["Bash"]),
    (&["read_file", "read_many_files"], &["Read"]),
    (&["write_file"], &["Write"]),
    (&["replace"], &["Edit", "MultiEdit"]),
    (&["grep_search", "search_file_content"], &["Grep"]),
    (&["glob"], &["Glob"]),
    (&["list_directory"], &["LS"]),
    (&["web_fetch"], &["WebFetch"]),
    (&["google_web_search"], &["WebSearch"]),
    (&["write_todos"], &["TodoWrite"]),
    (&["ask_user"], &["AskUserQuestion"]),
    (&["delegate_to_agent"], &["Agent", "Task"]),
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::dialect::by_name;

    #[test]
    fn a_tool_has_both_names() {
        let also_called = |tool| by_name("gemini").unwrap().also_called(tool);
        assert_eq!(also_called("run_shell_command"), ["Bash"]);
        assert!(also_called("Edit").contains(&"replace"));
        assert!(also_called("mcp_server_tool").is_empty());
    }
}
