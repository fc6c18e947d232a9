//! What is known of a client beside its protocol, for telling people of what they most likely did not mean.

/// How a client is configured. Nothing of it decides anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// The tools it has of its own, as far as they are known; empty: they are not. Those of MCP servers are not among them.
    pub tools: &'static [&'static str],
    /// Tools that have another name by now, as (old, new).
    pub renamed: &'static [(&'static str, &'static str)],
    /// Seconds from which on a `timeout` is most likely in milliseconds, as the client's own documents write it.
    pub milliseconds_from: Option<f64>,
    /// The environment variable in which its hooks find the project's folder.
    pub project_variable: Option<&'static str>,
    /// Keys of a handler that are the client's business alone, so that nobody misses them here.
    pub own_keys: &'static [&'static str],
}
