//! A parser for the part of the shell's grammar that separates commands and arguments.

use std::iter::Peekable;
use std::str::Chars;

/// One simple command.
#[derive(Debug, Default)]
pub(crate) struct Command {
    /// The command's words, unquoted.
    pub(crate) words: Vec<String>,
    /// The targets of its output redirections.
    pub(crate) targets: Vec<String>,
}

/// Maximum nesting of substitutions. It is enough for people and uses little stack.
const DEPTH: usize = 32;

/// Returns the simple commands of a text, including those inside `$(…)` and backticks. Text that could be a command
/// counts as one. An unterminated quotation ends with the text.
pub(crate) fn parse(text: &str) -> Result<Vec<Command>, &'static str> {
    // `$IFS` is a common replacement for a blank.
    let text = text.replace("${IFS}", " ").replace("$IFS", " ");
    let mut parser = Parser { chars: text.chars().peekable(), commands: Vec::new() };
    parser.list(None, DEPTH)?;
    Ok(parser.commands)
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    commands: Vec<Command>,
}

/// A command that is being read.
#[derive(Default)]
struct Draft {
    command: Command,
    word: Option<String>,
    next: Next,
}

/// The meaning of the next word.
#[derive(Default)]
enum Next {
    #[default]
    Word,
    Target,
    /// The source that a command reads from.
    Source,
}

impl Draft {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.next) {
            Next::Word => self.command.words.push(word),
            Next::Target => self.command.targets.push(word),
            Next::Source => {}
        }
    }

    fn end_command(&mut self, commands: &mut Vec<Command>) {
        self.end_word();
        self.next = Next::Word;
        commands.push(std::mem::take(&mut self.command));
    }
}

impl Parser<'_> {
    /// Reads commands up to a closing character, or to the end of the text.
    fn list(&mut self, end: Option<char>, depth: usize) -> Result<(), &'static str> {
        let Some(depth) = depth.checked_sub(1) else { return Err("a command inside so many others") };
        let mut draft = Draft::default();
        while let Some(c) = self.chars.next() {
            match c {
                _ if Some(c) == end => break,
                // `&>` redirects; any other `&` ends a command.
                '&' if self.chars.peek() == Some(&'>') => draft.end_word(),
                '\n' | ';' | '&' | '|' | '(' | ')' => draft.end_command(&mut self.commands),
                ' ' | '\t' | '\r' => draft.end_word(),
                '#' if draft.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
                '>' => {
                    // The number in `2>` is a file descriptor and not an argument.
                    if draft.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
                        draft.word = None;
                    }
                    draft.end_word();
                    while self.chars.next_if(|c| matches!(c, '>' | '|' | '&')).is_some() {}
                    draft.next = Next::Target;
                }
                '<' => {
                    draft.end_word();
                    while self.chars.next_if(|c| matches!(c, '<' | '-' | '&')).is_some() {}
                    draft.next = Next::Source;
                }
                '\\' => match self.chars.next() {
                    Some('\n') | None => {}
                    Some(escaped) => draft.push(escaped),
                },
                '\'' => {
                    draft.word.get_or_insert_default();
                    while let Some(c) = self.chars.next().filter(|c| *c != '\'') {
                        draft.push(c);
                    }
                }
                '"' => self.quoted(&mut draft, depth)?,
                _ => self.plain_or_substitution(c, &mut draft, depth)?,
            }
        }
        draft.end_command(&mut self.commands);
        Ok(())
    }

    /// Reads to the closing double quote.
    fn quoted(&mut self, draft: &mut Draft, depth: usize) -> Result<(), &'static str> {
        draft.word.get_or_insert_default();
        while let Some(c) = self.chars.next() {
            match c {
                '"' => break,
                '\\' => match self.chars.next() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => draft.push(c),
                    Some(c) => {
                        draft.push('\\');
                        draft.push(c);
                    }
                },
                _ => self.plain_or_substitution(c, draft, depth)?,
            }
        }
        Ok(())
    }

    /// Reads a substitution. Its result is unknown, but the commands that produce it are checked.
    fn plain_or_substitution(&mut self, c: char, draft: &mut Draft, depth: usize) -> Result<(), &'static str> {
        if c == '`' {
            self.list(Some('`'), depth)
        } else if c == '$' && self.chars.next_if_eq(&'(').is_some() {
            self.list(Some(')'), depth)
        } else {
            draft.push(c);
            Ok(())
        }
    }
}
