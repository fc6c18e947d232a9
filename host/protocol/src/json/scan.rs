//! Scanner that splits one JSON text into tokens. It keeps its own stack, so that deep nesting cannot overflow the thread's.

use std::ops::Range;

use super::string::plain;

/// Maximum nesting of arrays and objects. Clients and tools use far less, and a program can recurse over such a value
/// on any thread.
pub const MAX_DEPTH: usize = 1000;

/// Maximum number of values in one text, including keys. A value takes up to 500 bytes besides its text, so this limits
/// the memory for a text of small values. Conversations of a million tokens have far fewer values.
pub const MAX_NODES: usize = 250_000;

/// One token. [`Scanner::span`] has its position, which keeps this type small and cheap to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// `{` or `[`.
    Open(Container),
    /// The end of the innermost container.
    Close,
    /// The name of a member. Its value is next.
    Key,
    String,
    Number,
    True,
    False,
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Object,
    Array,
}

/// A fault of the text and its byte offset. It is boxed, because every token's result has room for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(Box<(String, usize, bool)>);

impl Fault {
    pub(crate) fn new(what: impl Into<String>, at: usize) -> Self {
        Self(Box::new((what.into(), at, false)))
    }

    /// Returns true if the text may be valid JSON but exceeds a limit of the reader.
    pub(crate) fn is_limit(&self) -> bool {
        self.0.2
    }

    /// Describes the fault with line and column, both from 1.
    pub(crate) fn within(&self, text: &[u8]) -> String {
        let (what, at, _) = &*self.0;
        let before = text.get(..(*at).min(text.len())).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n');
        let column = line.clone().next_back().map_or(0, <[u8]>::len) + 1;
        format!("{what} at line {} column {column}", line.count())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    FirstItem,
    FirstKey,
    Next,
    End,
}

/// Reads a text token by token. It stops at the first fault.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    span: (usize, usize),
    open: Vec<Container>,
    expect: Expect,
    tolerant: bool,
    blanks: bool,
    /// True if the last string had escapes.
    escapes: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let (open, expect) = (Vec::new(), Expect::Value);
        Self { text, at: 0, span: (0, 0), open, expect, tolerant: false, blanks: false, escapes: false }
    }

    /// A scanner that accepts some invalid JSON, if the end of each string and container is clear: any depth, and any
    /// byte or escape in a string.
    pub(crate) fn tolerant(text: &'a [u8]) -> Self {
        Self { tolerant: true, ..Self::new(text) }
    }

    /// The number of open containers.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The range of the last key, string or number in bytes. Quotes are not included.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.0..self.span.1
    }

    /// The byte offset where the last token ends.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns true if there is whitespace between tokens.
    pub(crate) fn has_blanks(&self) -> bool {
        self.blanks
    }

    /// Returns true if the last key or string has escapes.
    pub(crate) fn has_escapes(&self) -> bool {
        self.escapes
    }

    /// Returns the next token, or `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<Token>, Fault> {
        self.skip_blanks();
        if self.expect == Expect::Next {
            match (self.peek(), self.open.last().copied()) {
                (Some(b','), Some(inside)) => {
                    self.at += 1;
                    self.skip_blanks();
                    if inside == Container::Object {
                        return self.key().map(Some);
                    }
                }
                (Some(b'}'), Some(Container::Object)) | (Some(b']'), Some(Container::Array)) => {
                    return Ok(Some(self.close()));
                }
                (Some(_), Some(Container::Object)) => return Err(self.fault("expected `,` or `}`")),
                (Some(_), _) => return Err(self.fault("expected `,` or `]`")),
                (None, _) => return Err(self.ended()),
            }
        }
        match (self.peek(), self.expect) {
            (None, Expect::End) => Ok(None),
            (Some(_), Expect::End) => Err(self.fault("trailing characters")),
            (Some(b'}'), Expect::FirstKey) | (Some(b']'), Expect::FirstItem) => Ok(Some(self.close())),
            (_, Expect::FirstKey) => self.key().map(Some),
            (None, _) => Err(self.ended()),
            (Some(byte), _) => self.value(byte).map(Some),
        }
    }

    fn value(&mut self, byte: u8) -> Result<Token, Fault> {
        let token = match byte {
            b'{' => return self.open(Container::Object, Expect::FirstKey),
            b'[' => return self.open(Container::Array, Expect::FirstItem),
            b'"' => self.string(Token::String)?,
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word("true", Token::True)?,
            b'f' => self.word("false", Token::False)?,
            b'n' => self.word("null", Token::Null)?,
            _ => return Err(self.fault("expected a value")),
        };
        self.after_value();
        Ok(token)
    }

    fn open(&mut self, container: Container, expect: Expect) -> Result<Token, Fault> {
        if self.open.len() >= MAX_DEPTH && !self.tolerant {
            return Err(self.limit("nested deeper than 1,000 levels"));
        }
        self.at += 1;
        self.open.push(container);
        self.expect = expect;
        Ok(Token::Open(container))
    }

    fn close(&mut self) -> Token {
        self.at += 1;
        self.open.pop();
        self.after_value();
        Token::Close
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() { Expect::End } else { Expect::Next };
    }

    fn key(&mut self) -> Result<Token, Fault> {
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err(self.fault("expected a key in quotes")),
            None => return Err(self.ended()),
        }
        let key = self.string(Token::Key)?;
        self.skip_blanks();
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.fault("expected `:`")),
            None => return Err(self.ended()),
        }
        self.expect = Expect::Value;
        Ok(key)
    }

    /// Reads a string or a key. The scanner is at its opening quote.
    fn string(&mut self, token: Token) -> Result<Token, Fault> {
        let start = self.at + 1;
        let mut at = start;
        self.escapes = false;
        loop {
            at += plain(self.text.get(at..).unwrap_or_default());
            match self.text.get(at) {
                None => {
                    self.at = self.text.len();
                    return Err(self.fault("the text ends within a string"));
                }
                Some(b'"') => {
                    (self.at, self.span) = (at + 1, (start, at));
                    return Ok(token);
                }
                Some(b'\\') => {
                    at += self.escape(at)?;
                    self.escapes = true;
                }
                _ if self.tolerant => at += 1,
                _ => {
                    self.at = at;
                    return Err(self.fault("a control character in a string has to be escaped"));
                }
            }
        }
    }

    /// Returns the length of the escape at a backslash.
    #[inline]
    fn escape(&mut self, at: usize) -> Result<usize, Fault> {
        let hex =
            |from: usize| self.text.get(from..from + 4).is_some_and(|four| four.iter().all(u8::is_ascii_hexdigit));
        match self.text.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') if hex(at + 2) => Ok(6),
            Some(_) if self.tolerant => Ok(2),
            _ => {
                self.at = at;
                Err(self.fault("an escape that JSON does not have"))
            }
        }
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        self.take_if(b"-");
        // No leading zeros.
        if self.take_if(b"0") == 0 {
            self.digits()?;
        }
        if self.take_if(b".") == 1 {
            self.digits()?;
        }
        if self.take_if(b"eE") == 1 {
            self.take_if(b"+-");
            self.digits()?;
        }
        self.span = (start, self.at);
        Ok(Token::Number)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.take_if(b"0123456789") == 1 {}
        if self.at == start { Err(self.fault("expected a digit")) } else { Ok(()) }
    }

    fn take_if(&mut self, bytes: &[u8]) -> usize {
        let taken = usize::from(self.peek().is_some_and(|byte| bytes.contains(&byte)));
        self.at += taken;
        taken
    }

    fn word(&mut self, word: &str, token: Token) -> Result<Token, Fault> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(token)
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
            self.blanks |= !self.open.is_empty();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(crate) fn fault(&self, what: &str) -> Fault {
        Fault::new(what, self.at)
    }

    /// Makes a fault for a text that exceeds this limit.
    pub(crate) fn limit(&self, what: &str) -> Fault {
        Fault(Box::new((what.to_owned(), self.at, true)))
    }

    fn ended(&self) -> Fault {
        self.fault("the text ends too early")
    }
}
