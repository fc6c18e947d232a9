//! As much of the shell's grammar as tells commands from arguments.

use std::iter::Peekable;
use std::str::Chars;

/// One simple command.
#[derive(Debug, Default)]
pub(crate) struct Command {
    /// Its words, unquoted.
    pub(crate) words: Vec<String>,
    /// Where its output is redirected to.
    pub(crate) targets: Vec<String>,
}

/// How deep substitutions may be nested: enough for people, little for the stack.
const DEPTH: usize = 32;

/// The simple commands of a text, with those inside `$(…)` and backticks. Everything is read as a command that could be
/// one; a text that ends within a quotation is read to its end.
pub(crate) fn parse(text: &str) -> Result<Vec<Command>, &'static str> {
    // A common way to write a blank without writing one.
    let text = text.replace("${IFS}", " ").replace("$IFS", " ");
    let mut parser = Parser { chars: text.chars().peekable(), commands: Vec::new() };
    parser.list(None, DEPTH)?;
    Ok(parser.commands)
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    commands: Vec<Command>,
}

/// A command while it is read.
#[derive(Default)]
struct Draft {
    command: Command,
    word: Option<String>,
    next: Next,
}

/// What the next word is.
#[derive(Default)]
enum Next {
    #[default]
    Word,
    Target,
    /// What a command reads from.
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
                    // `2>` names what is redirected; it is not an argument.
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

    /// What is substituted cannot be known; the commands that produce it can.
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
