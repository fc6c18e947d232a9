//! Facts about a client beside its protocol, for warnings about likely mistakes.

/// Facts about a client's configuration. No decision depends on them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// The client's own tools, without those of MCP servers; empty: unknown.
    pub tools: &'static [&'static str],
    /// Renamed tools, as (old, new).
    pub renamed: &'static [(&'static str, &'static str)],
    /// A `timeout` of at least this many seconds is most likely meant in milliseconds, the unit of the client's own documents.
    pub milliseconds_from: Option<f64>,
    /// The environment variable with the project's folder.
    pub project_variable: Option<&'static str>,
    /// Events beyond the specification that today's client sends; they cause no warning.
    pub later_events: &'static [&'static str],
    /// Keys of a handler that only the client uses; they cause no warning.
    pub own_keys: &'static [&'static str],
}
