//! The names of tools in OpenCode and in Claude Code.

use crate::protocol::ToolNames;

/// decisions.md#opencode: "A matcher may name a tool as Claude Code does".
pub(super) const TOOLS: &[ToolNames] = &[
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::dialect::by_name;

    #[test]
    fn a_tool_has_both_names() {
        let also_called = |tool| by_name("opencode").unwrap().also_called(tool);
        assert_eq!(also_called("bash"), ["Bash"]);
        assert!(also_called("Edit").contains(&"apply_patch"));
        assert!(also_called("mcp_server_tool").is_empty());
    }
}
