//! Errors and warnings about a configuration, with their location.

use std::{fmt, path::PathBuf};

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The configuration cannot be loaded.
    Error,
    /// The configuration is loaded, but a part of it has no effect.
    Warning,
}

/// An error or warning about a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The JSON pointer into the file. Empty for the whole file.
    pub pointer: String,
    /// The line number, from 1, if known.
    pub line: Option<usize>,
    /// The message: what was found and what is allowed.
    pub message: String,
    /// The advice.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns true if it prevents the configuration from being loaded.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{word}: {}\n   {}", self.message, self.file.display())?;
        if !self.pointer.is_empty() {
            write!(f, "  {}", self.pointer)?;
        }
        if let Some(line) = self.line {
            write!(f, "   (line {line})")?;
        }
        match &self.help {
            Some(help) => write!(f, "\n   {help}"),
            None => Ok(()),
        }
    }
}

/// The diagnostics of a configuration that cannot be loaded: at least one error, and the warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigErrors {
    /// The diagnostics, errors first.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// A [`Diagnostic`] before its file and line are known.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Finding {
    pub(super) fn error(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, pointer: pointer.into(), message: message.into(), help: None }
    }

    pub(super) fn warning(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(pointer, message) }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// The edit distance of two words, ignoring case. `usize::MAX` for words of very different length: the time and memory
/// for the distance grow with the product of the lengths.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    if long > 4 * short + 16 {
        return usize::MAX;
    }
    strsim::damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

/// The known word that was probably meant. At most a third of its letters may differ.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or else a list of the known words.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known are {}", list(known)),
    }
}

/// A list of words in backticks, separated by commas.
pub(super) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
