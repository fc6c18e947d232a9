//! Tools that have one name with a client and another with Claude Code.

/// A client's own names of a tool, and Claude's.
pub(crate) type Names = (&'static [&'static str], &'static [&'static str]);

/// The names that a tool has on the other side.
pub(crate) fn other_names(tools: &'static [Names], tool: &str) -> &'static [&'static str] {
    let other = |(own, claudes): &Names| {
        if own.contains(&tool) { Some(*claudes) } else { claudes.contains(&tool).then_some(*own) }
    };
    tools.iter().find_map(other).unwrap_or_default()
}
