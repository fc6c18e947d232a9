//! Both names of a tool.

use crate::dialect::common::{Names, other_names};

/// decisions.md#opencode: "A matcher may name a tool as Claude Code does".
const TOOLS: &[Names] = &[
    (&["bash"], &["Bash"]),
    (&["read"], &["Read"]),
    (&["write"], &["Write"]),
    (&["edit", "multiedit", "patch", "apply_patch"], &["Edit", "MultiEdit"]),
    (&["grep"], &["Grep"]),
    (&["glob"], &["Glob"]),
    (&["list"], &["LS"]),
    (&["webfetch"], &["WebFetch"]),
    (&["websearch"], &["WebSearch"]),
    (&["todowrite"], &["TodoWrite"]),
    (&["question"], &["AskUserQuestion"]),
    (&["task"], &["Agent", "Task"]),
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
        assert_eq!(also_called("bash"), ["Bash"]);
        assert!(also_called("Edit").contains(&"apply_patch"));
        assert!(also_called("mcp_server_tool").is_empty());
    }
}
