//! The simple commands of a text.

use crate::word::{CLOSE, COMMA, OPEN, Word};

/// The simple commands of a text in the order in which they stand, those of substitutions before the command that has them.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
    /// The names of the functions that it defines.
    pub(crate) functions: Vec<String>,
    /// The text is longer, deeper or expands to more than is read.
    pub(crate) too_much: bool,
}

/// One simple command.
#[derive(Debug, Default)]
pub(crate) struct Command {
    /// Its words without reserved words and assignments.
    pub(crate) words: Vec<Word>,
    /// Files that its output is redirected to.
    pub(crate) writes: Vec<Word>,
    /// Files that it reads from.
    pub(crate) reads: Vec<Word>,
    /// Other input.
    pub(crate) stdin: Stdin,
}

/// Input of a command.
#[derive(Debug, Default)]
pub(crate) enum Stdin {
    /// Nothing that the text tells.
    #[default]
    Nothing,
    /// The output of the command of this index.
    Pipe(usize),
    /// A text: that of a here-document.
    Text(Word),
}

/// Reserved words before which or after which a command may stand.
const RESERVED: [&str; 14] =
    ["!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "time", "coproc"];

/// Values of a loop's variable that are followed at most.
const MOST_VALUES: usize = 32;

/// Builtins whose arguments are assignments.
const DECLARATIONS: [&str; 6] = ["export", "declare", "typeset", "local", "readonly", "set"];

impl Command {
    /// Takes reserved words and assignments off the front. Returns the variables that are set, by name.
    pub(crate) fn settle(&mut self) -> Vec<(String, String)> {
        let mut set = Vec::new();
        let mut start = 0;
        while let Some(word) = self.words.get(start) {
            let next = |by: usize| self.words.get(start + by).map(|word| word.text.clone());
            match word.text.as_str() {
                _ if word.quoted && assignment(word).is_none() => break,
                "time" if next(1).as_deref() == Some("-p") => start += 2,
                reserved if RESERVED.contains(&reserved) => start += 1,
                "function" => start += 2,
                "for" | "select" => {
                    let values = self.words.get(start + 3..).unwrap_or_default();
                    set.extend(next(1).map(|name| (name, each(values))));
                    start = self.words.len();
                }
                "case" => start += 3,
                _ => {
                    let Some((name, value)) = assignment(word) else { break };
                    // A variable of a loop has several values, and so has a copy of it.
                    let other = set.iter().any(|(known, before)| *known == name && *before != value);
                    set.push((name, if other { crate::UNKNOWN.to_string() } else { value }));
                    start += 1;
                }
            }
        }
        self.words.drain(..start.min(self.words.len()));
        if self.words.first().is_some_and(|word| DECLARATIONS.contains(&word.text.as_str())) {
            set.extend(self.words.iter().filter_map(assignment));
        }
        set
    }
}

/// The values of a loop's variable: braces that stand for all of them, so that a word with it becomes a word for each.
fn each(values: &[Word]) -> String {
    match values {
        [only] if !only.glob => only.text.clone(),
        [_, ..] if values.len() <= MOST_VALUES && values.iter().all(|value| !value.glob && value.is_known()) => {
            let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
            format!("{OPEN}{}{CLOSE}", texts.join(&COMMA.to_string()))
        }
        _ => crate::UNKNOWN.to_string(),
    }
}

/// `NAME=value`, `NAME+=value`. The value of the second is not known.
fn assignment(word: &Word) -> Option<(String, String)> {
    let (name, value) = word.text.split_once('=')?;
    let (name, value) = match name.strip_suffix('+') {
        Some(name) => (name, crate::UNKNOWN.to_string()),
        None => (name, value.to_owned()),
    };
    let named = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    (named && begins).then(|| (name.to_owned(), value))
}
