//! Matchers, which select the hooks for an event.

mod budget;
mod call;

pub use budget::Budget;
pub use call::{CallMatcher, CallPatterns};
use regex_automata::meta::Regex;
use thiserror::Error;

use crate::event::Event;

/// The syntax of a matcher's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchStyle {
    /// claude. decisions.md#matchers: "a pattern made only of letters, digits, `_` and `|` is a list of exact names
    /// (`Bash`, `Write|Edit`); any other pattern is a regex *searched* in the name".
    NamesOrSearch,
    /// codebuddy, blade. decisions.md#matchers: "a regex that must match the *whole* field".
    Whole,
    /// gemini, tools. decisions.md#matchers: "a regex *searched* in the tool's name".
    Search,
    /// gemini, other events. decisions.md#matchers: "for every other event the exact text of its field".
    Exact,
}

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MatchError {
    /// The pattern is not a regular expression.
    #[error("pattern `{pattern}` is not a regular expression: {problem} at character {position}")]
    Invalid {
        /// The pattern as written.
        pattern: String,
        /// The mistake.
        problem: String,
        /// The offset of the mistake, in characters from 1.
        position: usize,
    },
    /// The pattern exceeds a memory limit, alone or together with the other patterns of its configuration.
    #[error("pattern `{pattern}` {problem}")]
    TooLarge {
        /// The beginning of the pattern.
        pattern: String,
        /// The limit that it exceeds.
        problem: String,
    },
}

/// A compiled matcher.
#[derive(Debug, Clone, Default)]
pub enum Matcher {
    /// decisions.md#matchers: "Omitted, `""` and `"*"` match everything in every dialect."
    #[default]
    Everything,
    /// Any of these names.
    Names(Vec<String>),
    /// A regular expression.
    Pattern(Regex),
    /// Blade's form, which inspects the whole call.
    Call(Box<CallMatcher>),
}

impl Matcher {
    /// Compiles a matcher.
    ///
    /// # Errors
    /// decisions.md#matchers: "A regex that does not compile is a configuration error that names the file, the JSON
    /// pointer, the pattern and the position. It is never "matches nothing"."
    pub fn compile(style: MatchStyle, pattern: Option<&str>) -> Result<Self, MatchError> {
        Self::compile_within(&mut Budget::default(), style, pattern)
    }

    /// Compiles a matcher of a configuration. All matchers of a configuration share a budget.
    ///
    /// # Errors
    /// The errors of [`Matcher::compile`], and [`MatchError::TooLarge`].
    pub fn compile_within(budget: &mut Budget, style: MatchStyle, pattern: Option<&str>) -> Result<Self, MatchError> {
        let pattern = match pattern {
            None | Some("" | "*") => return Ok(Self::Everything),
            Some(pattern) => pattern,
        };
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '|';
        match style {
            MatchStyle::NamesOrSearch if pattern.chars().all(plain) => {
                budget.names(pattern)?;
                Ok(Self::Names(pattern.split('|').map(str::to_owned).collect()))
            }
            MatchStyle::NamesOrSearch | MatchStyle::Search => budget.regex(pattern, pattern).map(Self::Pattern),
            MatchStyle::Exact => {
                budget.names(pattern)?;
                Ok(Self::Names(vec![pattern.to_owned()]))
            }
            MatchStyle::Whole => budget.whole(pattern).map(Self::Pattern),
        }
    }

    /// Returns true if the matcher accepts this event. `field` is the field that matchers are compared with;
    /// `also_called` are other names for it.
    pub fn takes(&self, event: &Event, field: Option<&str>, also_called: &[&str]) -> bool {
        match (self, &event.call) {
            (Self::Call(matcher), Some(call)) => {
                let project = event.context.project_dir.as_deref().or(event.context.cwd.as_deref());
                matcher.matches(call, also_called, project)
            }
            _ => self.matches(field) || also_called.iter().any(|name| self.matches(Some(name))),
        }
    }

    /// Returns true if the matcher may accept an event of which only this field is known, or nothing at all.
    pub fn may_take(&self, field: Option<&str>, also_called: &[&str]) -> bool {
        let Some(field) = field else { return true };
        let mut names = [field].into_iter().chain(also_called.iter().copied());
        match self {
            Self::Call(matcher) => names.any(|name| matcher.may_match(name)),
            _ => names.any(|name| self.matches(Some(name))),
        }
    }

    /// Returns true if the matcher accepts this field. A missing field is compared as the empty text.
    pub fn matches(&self, field: Option<&str>) -> bool {
        let field = field.unwrap_or_default();
        match self {
            // Blade's patterns restrict calls only.
            Self::Everything | Self::Call(_) => true,
            Self::Names(names) => names.iter().any(|name| name == field),
            Self::Pattern(regex) => regex.is_match(field),
        }
    }
}

fn invalid(pattern: &str, error: &regex_syntax::Error) -> MatchError {
    let (problem, offset) = match error {
        regex_syntax::Error::Parse(e) => (e.kind().to_string(), e.span().start.offset),
        regex_syntax::Error::Translate(e) => (e.kind().to_string(), e.span().start.offset),
        _ => (error.to_string(), 0),
    };
    let position = pattern.get(..offset).map_or(1, |before| before.chars().count() + 1);
    MatchError::Invalid { pattern: pattern.to_owned(), problem, position }
}
