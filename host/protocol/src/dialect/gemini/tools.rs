//! Both names of a tool.

use crate::dialect::common::{Names, other_names};

/// decisions.md#gemini: "A matcher may name a tool as Claude Code does".
const TOOLS: &[Names] = &[
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

/// What Claude Code calls a tool, or what the client does.
pub(super) fn also_called(tool: &str) -> &'static [&'static str] {
    other_names(TOOLS, tool)
}

#[cfg(test)]
mod tests {
    use super::also_called;

    #[test]
    fn a_tool_has_both_names() {
        assert_eq!(also_called("run_shell_command"), ["Bash"]);
        assert!(also_called("Edit").contains(&"replace"));
        assert!(also_called("mcp_server_tool").is_empty());
    }
}
