//! Expansions: the values of `$` and backticks, as far as the text tells.

use std::ops::Range;

use crate::parse::{Draft, Parser};
use crate::script::{Command, Stdin};
use crate::word::{CLOSE, COMMA, OPEN, UNKNOWN, Word};

impl Parser<'_> {
    /// Reads to the closing double quote.
    pub(crate) fn double_quoted(&mut self, draft: &mut Draft, depth: usize) {
        draft.quoted();
        while let Some(c) = self.next() {
            match c {
                '"' => break,
                c => self.within_quotes(c, draft, depth),
            }
        }
    }

    fn within_quotes(&mut self, c: char, draft: &mut Draft, depth: usize) {
        match c {
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(c @ ('"' | '\\' | '$' | '`')) => draft.push(c),
                Some(c) => {
                    draft.push('\\');
                    draft.push(c);
                }
            },
            '$' => self.dollar(draft, true, depth),
            '`' => self.backticks(draft, true, depth),
            c => draft.push(c),
        }
    }

    /// A text in a here-document: expanded, not split.
    pub(crate) fn expand(&mut self, text: &str, depth: usize) -> Word {
        let mut draft = Draft::default();
        draft.quoted();
        self.nested(text, |inner| {
            while let Some(c) = inner.next() {
                inner.within_quotes(c, &mut draft, depth);
            }
        });
        std::mem::take(draft.word())
    }

    /// Reads another text into the same script.
    fn nested(&mut self, text: &str, read: impl FnOnce(&mut Parser<'_>)) {
        let mut inner = Parser::within(text, self);
        read(&mut inner);
        let (script, variables, budget) = (inner.script, inner.variables, inner.budget);
        (self.script, self.variables, self.budget) = (script, variables, budget);
    }

    /// After `$`.
    pub(crate) fn dollar(&mut self, draft: &mut Draft, quoted: bool, depth: usize) {
        match self.peek() {
            Some('(') => {
                self.next();
                if self.next_if('(') && self.arithmetic(depth) {
                    self.put(draft, &UNKNOWN.to_string(), true);
                } else {
                    self.substitution(draft, quoted, depth);
                }
            }
            Some('{') => {
                self.next();
                self.braced(draft, quoted, depth);
            }
            Some('\'') if !quoted => {
                self.next();
                self.ansi_quoted(draft);
            }
            // `$"…"` is a quotation that may be translated.
            Some('"') if !quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name().to_owned();
                if name.eq_ignore_ascii_case("env") && self.peek() == Some(':') {
                    // PowerShell's.
                    draft.word().text.push_str("$env");
                    return;
                }
                let value = self.value_of(&name);
                self.put(draft, &value, quoted);
            }
            // A number, whichever.
            Some('#' | '?' | '$' | '!') => {
                self.next();
                self.put(draft, "0", true);
            }
            Some('@' | '*' | '-' | '0'..='9') => {
                self.next();
                self.put(draft, &UNKNOWN.to_string(), true);
            }
            _ => draft.push('$'),
        }
    }

    fn name(&mut self) -> &str {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.next();
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The value of a variable: as it was set here, or one that every session has.
    fn value_of(&self, name: &str) -> String {
        let usual = match name {
            "HOME" => "~",
            "PWD" => ".",
            "TMPDIR" => "/tmp",
            "IFS" => " ",
            "RANDOM" | "UID" | "EUID" | "PPID" | "SECONDS" | "BASHPID" => "0",
            _ => return self.variables.get(name).cloned().unwrap_or_else(|| UNKNOWN.to_string()),
        };
        self.variables.get(name).cloned().unwrap_or_else(|| usual.to_owned())
    }

    /// Adds a value to the word. Unquoted, it is split at blanks and may have globs.
    fn put(&mut self, draft: &mut Draft, value: &str, quoted: bool) {
        let Some(left) = self.budget.checked_sub(value.len()) else { return self.too_much() };
        self.budget = left;
        let separators = self.separators();
        for c in value.chars() {
            if quoted || !matches!(c, ' ' | '\t' | '\n') && !separators.contains(c) {
                // Not `push`: a value may have the mark of what is unknown.
                draft.word().text.push(c);
                draft.word().glob |= !quoted && matches!(c, '*' | '?' | '[');
            } else {
                draft.end_word();
            }
        }
    }

    /// Characters beside blanks at which values are split: those of `IFS`. Without a letter of paths, so that no path is
    /// taken apart where `IFS` holds for one command alone.
    fn separators(&self) -> String {
        let set = self.variables.get("IFS").map_or("", String::as_str);
        set.chars().filter(|c| !matches!(*c, '/' | '.' | '~' | '*' | '-' | OPEN | COMMA | CLOSE | UNKNOWN)).collect()
    }

    /// After `${`.
    fn braced(&mut self, draft: &mut Draft, quoted: bool, depth: usize) {
        let indirect = self.next_if('!') | self.next_if('#');
        let name = self.name().to_owned();
        let start = self.at;
        let mut open = 1_usize;
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        let end = if open == 0 { self.at - 1 } else { self.at };
        let rest = self.text.get(start..end).unwrap_or_default().to_owned();
        let known = self.variables.contains_key(&name) || matches!(name.as_str(), "HOME" | "PWD" | "TMPDIR" | "IFS");
        let operator = rest.trim_start_matches(':').chars().next();
        // Whatever is chosen, a substitution in it may run.
        let operand = rest.trim_start_matches(':').get(1..).unwrap_or_default();
        let other = (!rest.is_empty()).then(|| match depth.checked_sub(1) {
            Some(depth) => self.expand(operand, depth).text,
            None => UNKNOWN.to_string(),
        });
        let value = match (operator, other) {
            _ if indirect || name.is_empty() => UNKNOWN.to_string(),
            (None | Some('?'), _) => self.value_of(&name),
            (Some('-' | '='), Some(_)) if known => self.value_of(&name),
            (Some('-' | '=' | '+'), Some(other)) => other,
            _ => UNKNOWN.to_string(),
        };
        self.put(draft, &value, quoted);
    }

    /// After `$'`: escapes of C.
    fn ansi_quoted(&mut self, draft: &mut Draft) {
        draft.quoted();
        while let Some(c) = self.next() {
            match c {
                '\'' => break,
                '\\' => self.escape(draft),
                c => draft.push(c),
            }
        }
    }

    fn escape(&mut self, draft: &mut Draft) {
        let code = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let c = match self.next() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('x') => code(self.digits(2, 16), 16),
            Some('u') => code(self.digits(4, 16), 16),
            Some('U') => code(self.digits(8, 16), 16),
            Some('0'..='7') => {
                self.at -= 1;
                code(self.digits(3, 8), 8)
            }
            Some('a' | 'b' | 'e' | 'E' | 'f' | 'v' | 'c') => Some(UNKNOWN),
            other => other,
        };
        draft.push(c.unwrap_or(UNKNOWN));
    }

    fn digits(&mut self, most: usize, radix: u32) -> &str {
        let start = self.at;
        while self.at - start < most && self.peek().is_some_and(|c| c.is_digit(radix)) {
            self.next();
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// After `` ` ``.
    pub(crate) fn backticks(&mut self, draft: &mut Draft, quoted: bool, depth: usize) {
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '`' => break,
                '\\' => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => text.push(c),
                    Some(c) => {
                        text.push('\\');
                        text.push(c);
                    }
                    None => {}
                },
                c => text.push(c),
            }
        }
        let first = self.script.commands.len();
        self.nested(&text, |inner| inner.list(None, depth));
        self.output_of(first..self.script.commands.len(), draft, quoted);
    }

    /// After `$(` or `<(`.
    pub(crate) fn substitution(&mut self, draft: &mut Draft, quoted: bool, depth: usize) {
        let first = self.script.commands.len();
        self.list(Some(')'), depth);
        self.output_of(first..self.script.commands.len(), draft, quoted);
    }

    fn output_of(&mut self, commands: Range<usize>, draft: &mut Draft, quoted: bool) {
        let printed = match self.script.commands.get(commands.clone()) {
            Some([only]) => printed(only),
            _ => None,
        };
        draft.word().from.extend(commands);
        match printed {
            Some(text) => self.put(draft, text.trim_end_matches('\n'), quoted),
            None => self.put(draft, &UNKNOWN.to_string(), true),
        }
    }

    /// After `((`: a number, whatever it is. Substitutions in it run. False, and nothing is read, where it is a list in a
    /// list: `((a); b)`.
    pub(crate) fn arithmetic(&mut self, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            self.too_much();
            return true;
        };
        let start = self.at;
        let mut draft = Draft::default();
        let mut open = 2_usize;
        while let Some(c) = self.next() {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                '$' => self.dollar(&mut draft, true, depth),
                '`' => self.backticks(&mut draft, true, depth),
                _ => {}
            }
            if open == 0 {
                return true;
            }
            if open == 1 && self.peek() != Some(')') {
                break;
            }
        }
        // Before the second parenthesis again.
        self.at = start - 1;
        false
    }
}

/// Programs that print the commands with which a shell is set up: `eval "$(ssh-agent -s)"`.
const SETUP: [&str; 15] = [
    "ssh-agent",
    "direnv",
    "brew",
    "pyenv",
    "rbenv",
    "nodenv",
    "starship",
    "zoxide",
    "dircolors",
    "fnm",
    "mise",
    "opam",
    "keychain",
    "conda",
    "fzf",
];

/// The output of a command into a pipe or a substitution, if its words tell it.
pub(crate) fn printed(command: &Command) -> Option<String> {
    if command.writes.is_empty() { output(command) } else { None }
}

/// The output of a command, wherever it goes, if its words tell it.
pub(crate) fn output(command: &Command) -> Option<String> {
    let (program, args) = command.words.split_first()?;
    if args.iter().any(|arg| arg.glob) {
        return None;
    }
    let text = |words: &[Word]| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let name = program.text.rsplit('/').next()?;
    match (name, args) {
        ("echo", [option, rest @ ..]) if matches!(option.text.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E") => {
            Some(text(rest))
        }
        ("echo", _) => Some(text(args) + "\n"),
        ("printf", [format, rest @ ..]) => formatted(&format.text, rest),
        (setup, _) if SETUP.contains(&setup) => Some(String::new()),
        ("pwd", _) => Some(".".into()),
        ("mktemp", _) => Some("/tmp/mktemp".into()),
        ("which", [program]) => Some(program.text.clone()),
        ("command", [option, program]) if option.text == "-v" => Some(program.text.clone()),
        ("git", [parse, show]) if parse.text == "rev-parse" && show.text == "--show-toplevel" => Some(".".into()),
        ("cat", [] | [Word { .. }]) if args.iter().all(|arg| arg.text == "-") => match &command.stdin {
            Stdin::Text(word) => Some(word.text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// `printf` with `%s` alone.
fn formatted(format: &str, args: &[Word]) -> Option<String> {
    let mut text = String::new();
    let mut args = args.iter();
    let mut letters = format.chars();
    while let Some(c) = letters.next() {
        match c {
            '%' => match letters.next()? {
                '%' => text.push('%'),
                's' | 'b' | 'q' => text.push_str(args.next().map_or("", |arg| &arg.text)),
                _ => return None,
            },
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '0' => text.push('\0'),
                '\\' => text.push('\\'),
                _ => return None,
            },
            c => text.push(c),
        }
    }
    // The format is used again for the rest.
    (args.next().is_none()).then_some(text)
}
