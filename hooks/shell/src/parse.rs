//! From a text to its simple commands.
//!
//! Everything is read as a command that could be one, and a text that ends within a quotation is read to its end: a mistake of
//! this reader shows a command that does not run, and hides none that does.

use std::collections::BTreeMap;

use crate::script::{Command, Script, Stdin};
use crate::word::{CLOSE, COMMA, OPEN, UNKNOWN, Word};

/// Depth of substitutions: enough for people, little for the stack.
pub(crate) const DEPTH: usize = 24;
/// Commands of a text at most.
const MOST_COMMANDS: usize = 4096;
/// Words of a command after which braces are not expanded.
const MOST_WORDS: usize = 1024;
/// Bytes that expansions may add.
const EXPANSIONS: usize = 256 * 1024;

/// Reads a text.
pub(crate) struct Parser<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    pub(crate) script: Script,
    pub(crate) variables: BTreeMap<String, String>,
    /// Bytes that expansions may still add.
    pub(crate) budget: usize,
    /// The command whose output the next one reads.
    pipe: Option<usize>,
    /// Here-documents that begin after the next line break.
    heredocs: Vec<Heredoc>,
}

struct Heredoc {
    command: usize,
    end: String,
    expands: bool,
    indented: bool,
}

/// A command while it is read.
#[derive(Default)]
pub(crate) struct Draft {
    command: Command,
    word: Option<Word>,
    next: Next,
    heredocs: Vec<(Word, bool)>,
}

/// Role of the next word.
#[derive(Default, Clone, Copy, PartialEq)]
enum Next {
    #[default]
    Word,
    Write,
    Read,
    Text,
    Heredoc {
        indented: bool,
    },
}

/// The commands of a text.
pub(crate) fn parse(text: &str, variables: BTreeMap<String, String>) -> (Script, BTreeMap<String, String>) {
    let mut parser = Parser {
        text,
        at: 0,
        script: Script::default(),
        variables,
        budget: EXPANSIONS,
        pipe: None,
        heredocs: Vec::new(),
    };
    parser.list(None, DEPTH);
    (parser.script, parser.variables)
}

impl Draft {
    pub(crate) fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    /// A character of the text, without any meaning.
    pub(crate) fn push(&mut self, c: char) {
        let c = if matches!(c, '\u{fdd0}'..='\u{fdef}' | '\0') { UNKNOWN } else { c };
        self.word().text.push(c);
    }

    pub(crate) fn quoted(&mut self) {
        self.word().quoted = true;
    }

    pub(crate) fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.next) {
            Next::Word if self.command.words.len() > MOST_WORDS => self.command.words.push(word),
            Next::Word => self.command.words.extend(word.expanded()),
            Next::Write => self.command.writes.extend(word.expanded().into_iter().filter(is_file)),
            Next::Read => self.command.reads.extend(word.expanded().into_iter().filter(is_file)),
            Next::Text => self.command.stdin = Stdin::Text(word),
            Next::Heredoc { indented } => self.heredocs.push((word, indented)),
        }
    }

    fn ends_with(&self, c: char) -> bool {
        self.word.as_ref().is_some_and(|word| word.text.ends_with(c))
    }

    /// The name before the parentheses of a function.
    fn name(&self) -> Option<String> {
        self.word.as_ref().or(self.command.words.last()).map(|word| word.text.clone())
    }

    fn is_empty(&self) -> bool {
        self.word.is_none() && self.command.words.is_empty()
    }

    fn in_case(&self) -> bool {
        self.command.words.first().is_some_and(|word| word.text == "case" && !word.quoted)
    }

    /// Within `[[ … ]]`, `<` and `>` compare.
    fn compares(&self) -> bool {
        let is = |word: Option<&Word>, text: &str| word.is_some_and(|word| word.text == text);
        is(self.command.words.first(), "[[") && !is(self.command.words.last(), "]]")
    }
}

/// `2>&1` and `>&-` name no file.
fn is_file(word: &Word) -> bool {
    let text = word.text.trim_end_matches('-');
    !text.is_empty() && !text.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'t> Parser<'t> {
    /// A parser of a text inside another's.
    pub(crate) fn within(text: &'t str, outer: &mut Parser<'_>) -> Self {
        Self {
            text,
            at: 0,
            script: std::mem::take(&mut outer.script),
            variables: std::mem::take(&mut outer.variables),
            budget: outer.budget,
            pipe: None,
            heredocs: Vec::new(),
        }
    }
}

impl Parser<'_> {
    pub(crate) fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(crate) fn next_if(&mut self, expected: char) -> bool {
        let is = self.peek() == Some(expected);
        if is {
            self.at += expected.len_utf8();
        }
        is
    }

    /// Gives up on the rest of the text.
    pub(crate) fn too_much(&mut self) {
        self.script.too_much = true;
        self.at = self.text.len();
    }

    /// Reads commands up to a closing character, or to the end of the text.
    pub(crate) fn list(&mut self, close: Option<char>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return self.too_much() };
        let outer = self.pipe.take();
        let mut draft = Draft::default();
        while let Some(c) = self.next() {
            match c {
                _ if Some(c) == close => break,
                '|' | '\n' if draft.in_case() => draft.end_word(),
                '\n' => {
                    self.end_command(&mut draft, false);
                    self.read_heredocs(depth);
                }
                '&' if self.peek() == Some('>') => {
                    draft.end_word();
                    self.next();
                    self.redirect(&mut draft);
                }
                // The pattern of a `case`.
                ')' => draft = Draft::default(),
                ';' | '&' => {
                    self.end_command(&mut draft, false);
                    if c == ';' && self.next_if(';') {
                        self.pattern();
                    }
                }
                '|' => {
                    let either = self.next_if('|');
                    let _ = self.next_if('&');
                    self.end_command(&mut draft, !either);
                }
                '(' if draft.is_empty() && self.next_if('(') && self.arithmetic(depth) => {}
                '(' => {
                    if self.peek() == Some(')') {
                        self.script.functions.extend(draft.name());
                    }
                    if draft.ends_with('=') {
                        // The words of `a=(rm -rf /)` are read as a command: where they are used, they may be one.
                        draft.push(UNKNOWN);
                    }
                    self.end_command(&mut draft, false);
                    self.list(Some(')'), depth);
                }
                ' ' | '\t' | '\r' => draft.end_word(),
                '#' if draft.word.is_none() => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                '<' | '>' if self.peek() == Some('(') => {
                    self.next();
                    self.substitution(&mut draft, true, depth);
                }
                '<' | '>' if draft.compares() => draft.push(c),
                '>' => {
                    draft.end_number();
                    self.redirect(&mut draft);
                }
                '<' => self.input(&mut draft),
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => {
                        draft.quoted();
                        draft.push(escaped);
                    }
                },
                '\'' => {
                    draft.quoted();
                    while let Some(c) = self.next().filter(|c| *c != '\'') {
                        draft.push(c);
                    }
                }
                '"' => self.double_quoted(&mut draft, depth),
                '$' => self.dollar(&mut draft, false, depth),
                '`' => self.backticks(&mut draft, false, depth),
                '{' => draft.word().text.push(OPEN),
                ',' => draft.word().text.push(COMMA),
                '}' => draft.word().text.push(CLOSE),
                '*' | '?' | '[' => {
                    draft.word().glob = true;
                    draft.push(c);
                }
                c => draft.push(c),
            }
        }
        self.end_command(&mut draft, false);
        self.read_heredocs(depth);
        self.pipe = self.pipe.take().or(outer);
    }

    /// After `;;`: passes over the next pattern of a `case`.
    fn pattern(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let begins = rest.trim_start_matches(['&', ' ', '\t', '\r', '\n']);
        let line = begins.split('\n').next().unwrap_or_default();
        if let Some(end) = line.find(')').filter(|_| !line.starts_with("esac")) {
            self.at += rest.len() - begins.len() + end + 1;
        }
    }

    /// After `>`: what it writes to.
    fn redirect(&mut self, draft: &mut Draft) {
        while self.next_if('>') || self.next_if('|') || self.next_if('&') {}
        draft.next = Next::Write;
    }

    /// After `<`: what it reads from.
    fn input(&mut self, draft: &mut Draft) {
        draft.end_number();
        draft.next = if self.next_if('<') {
            if self.next_if('<') { Next::Text } else { Next::Heredoc { indented: self.next_if('-') } }
        } else if self.next_if('>') {
            Next::Write
        } else {
            let _ = self.next_if('&');
            Next::Read
        };
    }

    fn end_command(&mut self, draft: &mut Draft, piped: bool) {
        draft.end_word();
        let Draft { mut command, heredocs, .. } = std::mem::take(draft);
        if let [keyword, name, ..] = command.words.as_slice()
            && keyword.text == "function"
        {
            self.script.functions.push(name.text.clone());
        }
        self.variables.extend(command.settle());
        let nothing = command.words.is_empty() && command.writes.is_empty() && command.reads.is_empty();
        if nothing && heredocs.is_empty() {
            // `(a) | b` and `done | b`: the last command before it writes to the pipe.
            if piped {
                self.pipe = self.script.commands.len().checked_sub(1);
            }
            return;
        }
        if let (Stdin::Nothing, Some(from)) = (&command.stdin, self.pipe.take()) {
            command.stdin = Stdin::Pipe(from);
        }
        let index = self.script.commands.len();
        if index >= MOST_COMMANDS {
            return self.too_much();
        }
        self.script.commands.push(command);
        self.heredocs.extend(heredocs.into_iter().map(|(end, indented)| Heredoc {
            command: index,
            expands: !end.quoted,
            end: end.text,
            indented,
        }));
        self.pipe = piped.then_some(index);
    }

    /// The here-documents of the line that has ended.
    fn read_heredocs(&mut self, depth: usize) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let (line, next) = rest.split_once('\n').unwrap_or((rest, ""));
                self.at = self.text.len() - next.len();
                let line = if heredoc.indented { line.trim_start_matches('\t') } else { line };
                if line == heredoc.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            let text = if heredoc.expands { self.expand(&body, depth) } else { Word::new(body) };
            if let Some(command) = self.script.commands.get_mut(heredoc.command) {
                command.stdin = Stdin::Text(text);
            }
        }
    }
}

impl Draft {
    /// `2>` names what is redirected; it is not an argument.
    fn end_number(&mut self) {
        let number = |word: &Word| !word.quoted && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.next == Next::Word && self.word.as_ref().is_some_and(number) {
            self.word = None;
        }
        self.end_word();
    }
}
