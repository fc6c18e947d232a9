//! What is wrong with a configuration, and where.

use std::{fmt, path::PathBuf};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The configuration is not loaded.
    Error,
    /// The configuration is loaded; something in it has no effect.
    Warning,
}

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// JSON pointer into the file; empty for the whole of it.
    pub pointer: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// What was found and what is allowed.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns true if it keeps the configuration from being loaded.
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

/// Everything that is wrong with a configuration that could not be loaded: at least one error, and the warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    /// In the order of the file's checks, errors and warnings.
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

/// How many letters are different, capitals aside.
pub(super) fn distance(a: &str, b: &str) -> usize {
    strsim::damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

/// The word that was probably meant: at most a third of its letters are different.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or else the words there are.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known are {}", list(known)),
    }
}

/// Words in backticks, with commas.
pub(super) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
