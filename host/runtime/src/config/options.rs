//! The options of reading a configuration.

/// The options of a [`Reader`](super::Reader).
#[derive(Debug, Clone, Default)]
pub(super) struct ReadOptions {
    /// The dialect that overrides the one in the file.
    pub(super) dialect: Option<String>,
    /// The types of handlers that the embedder adds.
    pub(super) handlers: Vec<String>,
    /// True if failures block even if the file does not say so.
    pub(super) fail_closed: bool,
    /// True if missing component files are reported beside other errors.
    pub(super) files: bool,
    /// The memory for compiled matchers, in bytes.
    pub(super) matcher_bytes: Option<usize>,
}
