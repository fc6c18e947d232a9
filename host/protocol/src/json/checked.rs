//! The tokens of a text, without anything that two parsers could read differently.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use serde_json::{Map, Number, Value};

use super::{
    DecodeError, MAX_NODES, Object,
    scan::{Container, Fault, Scanner, Token},
    shorten,
    string::{broken, unescape},
};

/// Up to this number of names, each is compared with each. More names go into a set.
const FEW: usize = 32;

/// From this number of bytes on, containers give up the capacity that they do not need.
const LARGE: usize = 64 << 10;

/// Reader of one text.
pub(super) struct Checked<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    nodes: usize,
    replaced: usize,
    /// The names of all open containers, the outermost first. `open` has the start of each container's names.
    names: Vec<Cow<'a, str>>,
    open: Vec<usize>,
    /// The names of containers with more than [`FEW`], each with the number of containers that were open.
    many: Vec<(usize, HashSet<Cow<'a, str>>)>,
}

impl<'a> Checked<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let text = std::str::from_utf8(bytes).map_err(|e| DecodeError::Utf8(e.valid_up_to()))?;
        let (names, open) = (Vec::with_capacity(12), Vec::with_capacity(4));
        Ok(Self { text, scanner: Scanner::new(bytes), nodes: 0, replaced: 0, names, open, many: Vec::new() })
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The number of escapes that were half a surrogate pair and were read as U+FFFD.
    pub(super) fn replaced(&self) -> usize {
        self.replaced
    }

    /// Returns true if there is whitespace between tokens.
    pub(super) fn has_blanks(&self) -> bool {
        self.scanner.has_blanks()
    }

    /// Returns the next token, or `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Token>, Fault> {
        let Some(token) = self.scanner.next()? else { return Ok(None) };
        self.nodes += usize::from(token != Token::Close);
        if self.nodes > MAX_NODES {
            return Err(self.scanner.limit("more than 250,000 values and keys"));
        }
        match token {
            Token::Open(_) => self.open.push(self.names.len()),
            Token::Close => {
                self.many.pop_if(|(depth, _)| *depth == self.open.len());
                self.names.truncate(self.open.pop().unwrap_or_default());
            }
            Token::Key if !self.is_new() => {
                let what = format!("key `{}` appears twice", shorten(&self.string(), 60));
                return Err(Fault::new(what, self.scanner.span().end + 1));
            }
            Token::Number if !is_finite(self.raw()) => {
                return Err(self.scanner.limit("a number that no 64 bits hold"));
            }
            _ => {}
        }
        if self.scanner.has_escapes() && matches!(token, Token::Key | Token::String) {
            self.replaced += broken(self.raw());
        }
        Ok(Some(token))
    }

    /// Records the key that was the last token. Returns false if its object already has this key.
    fn is_new(&mut self) -> bool {
        let (name, depth) = (self.string(), self.open.len());
        if let Some((_, many)) = self.many.last_mut().filter(|(of, _)| *of == depth) {
            return many.insert(name);
        }
        let names = self.open.last().and_then(|from| self.names.get(*from..)).unwrap_or_default();
        if names.contains(&name) {
            return false;
        }
        if names.len() < FEW {
            self.names.push(name);
        } else {
            self.many.push((depth, names.iter().cloned().chain([name]).collect()));
        }
        true
    }

    /// The key or string that was the last token.
    pub(super) fn string(&self) -> Cow<'a, str> {
        let raw = self.raw();
        if self.scanner.has_escapes() { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) }
    }

    fn raw(&self) -> &'a str {
        self.text.get(self.scanner.span()).unwrap_or_default()
    }

    /// Describes a fault of the text.
    pub(super) fn syntax(&self, fault: &Fault) -> DecodeError {
        let words = fault.within(self.text.as_bytes());
        if fault.is_limit() { DecodeError::Limit(words) } else { DecodeError::Syntax(words) }
    }

    /// The range of the key or string that was the last token, and true if it has escapes.
    pub(super) fn last(&self) -> (Range<usize>, bool) {
        (self.scanner.span(), self.scanner.has_escapes())
    }

    /// Reads the next value and returns its range of bytes.
    pub(super) fn value_range(&mut self) -> Result<Range<usize>, Fault> {
        self.scanner.skip_blanks();
        let (start, depth) = (self.scanner.at(), self.open.len());
        self.next()?;
        while self.open.len() > depth {
            self.next()?;
        }
        Ok(start..self.scanner.at())
    }

    /// Reads the value that begins with this token.
    pub(super) fn value(&mut self, first: Option<Token>) -> Result<Value, Fault> {
        let large = self.text.len() >= LARGE;
        let mut open: Vec<Open> = Vec::new();
        let mut token = first;
        loop {
            let mut done = match token {
                Some(Token::Open(Container::Object)) => {
                    open.push(Open::Object(Map::new(), String::new()));
                    None
                }
                Some(Token::Open(Container::Array)) => {
                    open.push(Open::Array(Vec::new()));
                    None
                }
                Some(Token::Key) => {
                    let name = self.string().into_owned();
                    if let Some(Open::Object(_, waiting)) = open.last_mut() {
                        *waiting = name;
                    }
                    None
                }
                Some(Token::Close) => open.pop().map(|container| container.closed(large)),
                Some(Token::String) => Some(Value::String(self.string().into_owned())),
                Some(Token::Number) => Some(number(self.raw()).map_or(Value::Null, Value::Number)),
                Some(Token::True) => Some(true.into()),
                Some(Token::False) => Some(false.into()),
                Some(Token::Null) | None => Some(Value::Null),
            };
            match (open.last_mut(), &mut done) {
                (None, Some(whole)) => return Ok(whole.take()),
                (Some(Open::Object(object, name)), Some(value)) => {
                    object.insert(std::mem::take(name), value.take());
                }
                (Some(Open::Array(items)), Some(value)) => items.push(value.take()),
                (_, None) => {}
            }
            token = self.next()?;
        }
    }
}

fn number(raw: &str) -> Option<Number> {
    serde_json::from_str(raw).ok()
}

/// Returns true if a 64-bit number can hold the value, possibly with fewer digits.
fn is_finite(raw: &str) -> bool {
    const SURELY: usize = 300;
    raw.len() < SURELY && !raw.contains(['e', 'E']) || number(raw).is_some_and(|number| number.as_f64().is_some())
}

/// A container during parsing. An object comes with the key of its next value.
enum Open {
    Object(Object, String),
    Array(Vec<Value>),
}

impl Open {
    /// Frees unused capacity. It is most of the memory in a large text of small arrays and objects.
    fn closed(self, large: bool) -> Value {
        match self {
            Self::Object(object, _) if large && object.len() < 3 => Value::Object(object.into_iter().collect()),
            Self::Object(object, _) => Value::Object(object),
            Self::Array(mut items) => {
                if large {
                    items.shrink_to_fit();
                }
                Value::Array(items)
            }
        }
    }
}
