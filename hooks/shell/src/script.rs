//! The simple commands of a text.

use crate::word::Word;

/// The simple commands of a text in the order in which they stand, those of substitutions before the command that has them.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
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
                reserved if RESERVED.contains(&reserved) => start += 1,
                "function" => start += 2,
                "for" | "select" => {
                    // Of several values none is known; of one it is that.
                    let values = self.words.get(start + 3..).unwrap_or_default();
                    let value = match values {
                        [only] if !only.glob => only.text.clone(),
                        _ => crate::UNKNOWN.to_string(),
                    };
                    set.extend(next(1).map(|name| (name, value)));
                    start = self.words.len();
                }
                "case" => start += 3,
                _ => {
                    let Some(assigned) = assignment(word) else { break };
                    set.push(assigned);
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
