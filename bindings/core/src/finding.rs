//! Findings about a configuration, as data.

use hookbox::config::{Diagnostic, Severity};
use serde::Serialize;

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `error`: the configuration is not loaded. `warning`: something in it has no effect.
    pub severity: &'static str,
    /// The file.
    pub file: String,
    /// JSON pointer into the file; empty for the whole of it.
    pub pointer: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The fault, and the allowed values.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl From<&Diagnostic> for Finding {
    fn from(found: &Diagnostic) -> Self {
        Self {
            severity: match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            file: found.file.display().to_string(),
            pointer: found.pointer.clone(),
            line: found.line,
            message: found.message.clone(),
            help: found.help.clone(),
        }
    }
}
