//! Which hooks an event is for.

use regex::Regex;
use thiserror::Error;

/// How a dialect reads the text of a matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchStyle {
    /// claude. decisions.md#matchers: "a pattern made only of letters, digits, `_` and `|` is a list of exact names
    /// (`Bash`, `Write|Edit`); any other pattern is a regex *searched* in the name".
    NamesOrSearch,
    /// codebuddy, blade. decisions.md#matchers: "a regex that must match the *whole* field".
    Whole,
}

/// A pattern that is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("pattern `{pattern}` is not a regular expression: {problem} at character {position}")]
pub struct MatchError {
    /// The pattern as written.
    pub pattern: String,
    /// What is wrong with it.
    pub problem: String,
    /// Where, in characters from 1.
    pub position: usize,
}

/// A compiled matcher.
#[derive(Debug, Clone, Default)]
pub enum Matcher {
    /// decisions.md#matchers: "Omitted, `""` and `"*"` match everything in every dialect."
    #[default]
    Everything,
    /// One of these names.
    Names(Vec<String>),
    /// A regular expression.
    Pattern(Regex),
}

impl Matcher {
    /// Compiles a matcher.
    ///
    /// # Errors
    /// decisions.md#matchers: "A regex that does not compile is a configuration error that names the file, the JSON
    /// pointer, the pattern and the position. It is never "matches nothing"."
    pub fn compile(style: MatchStyle, pattern: Option<&str>) -> Result<Self, MatchError> {
        let pattern = match pattern {
            None | Some("" | "*") => return Ok(Self::Everything),
            Some(pattern) => pattern,
        };
        if let Err(error) = regex_syntax::parse(pattern) {
            return Err(match_error(pattern, &error));
        }
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '|';
        let source = match style {
            MatchStyle::NamesOrSearch if pattern.chars().all(plain) => {
                return Ok(Self::Names(pattern.split('|').map(str::to_owned).collect()));
            }
            MatchStyle::NamesOrSearch => pattern.to_owned(),
            MatchStyle::Whole => format!("^(?:{pattern})$"),
        };
        // What parses can still be too large to compile.
        Regex::new(&source).map(Self::Pattern).map_err(|e| MatchError {
            pattern: pattern.to_owned(),
            problem: e.to_string(),
            position: 1,
        })
    }

    /// Whether the matcher takes this field. An absent field is matched as the empty text.
    pub fn matches(&self, field: Option<&str>) -> bool {
        let field = field.unwrap_or_default();
        match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == field),
            Self::Pattern(regex) => regex.is_match(field),
        }
    }
}

fn match_error(pattern: &str, error: &regex_syntax::Error) -> MatchError {
    let (problem, offset) = match error {
        regex_syntax::Error::Parse(e) => (e.kind().to_string(), e.span().start.offset),
        regex_syntax::Error::Translate(e) => (e.kind().to_string(), e.span().start.offset),
        _ => (error.to_string(), 0),
    };
    let position = pattern.get(..offset).map_or(1, |before| before.chars().count() + 1);
    MatchError { pattern: pattern.to_owned(), problem, position }
}
