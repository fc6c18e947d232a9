//! JSON values that a hook reads: tool inputs, tool outputs, whole events.

mod node;

use std::cell::OnceCell;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use self::node::{Node, Source};
use crate::{Fault, Result};

/// A JSON value, read by [JSON pointer](https://www.rfc-editor.org/rfc/rfc6901).
///
/// The plain name of a member works as well: `"command"` is the same as `"/command"`. So a forgotten slash cannot make
/// a guard miss a value.
///
/// The text from the host is parsed only where the hook reads it. A hook that decides by the tool's name alone does not
/// pay for a large input, and reading one string does not parse the values beside it.
///
/// ```
/// use hookbox_guest::prelude::*;
///
/// let input = Json::from(json!({"command": "ls", "options": {"timeout": 5}}));
/// assert_eq!(input.str("/command"), Some("ls"));
/// assert_eq!(input.i64("/options/timeout"), Some(5));
/// assert_eq!(input.bool("/missing"), None);
/// ```
#[derive(Clone)]
pub struct Json {
    /// The text that the host sent, or that is sent to the host.
    text: String,
    root: Node,
    /// The parse error, if one was found.
    unreadable: OnceCell<String>,
}

static NULL: Value = Value::Null;

impl Json {
    /// Converts any value that serializes.
    pub fn of(value: &impl Serialize) -> Result<Self> {
        serde_json::to_value(value).map(Self::from).map_err(Fault::failed)
    }

    /// Returns the value. If the text is not JSON, it returns `null` and the call ends as a fault, whatever the hook
    /// returns.
    pub fn value(&self) -> &Value {
        self.root.value(&self.source()).unwrap_or(&NULL)
    }

    /// Returns the value at a JSON pointer; `""` is the whole value.
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        match self.root.known() {
            Some(value) if pointer.is_empty() || pointer.starts_with('/') => value.pointer(pointer),
            Some(value) => value.get(pointer),
            None => self.at(pointer)?.value(&self.source()),
        }
    }

    /// Returns the string at a JSON pointer.
    pub fn str(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.str(&self.source())
    }

    /// Returns the boolean at a JSON pointer.
    pub fn bool(&self, pointer: &str) -> Option<bool> {
        self.at(pointer)?.scalar(&self.source())?.parse().ok()
    }

    /// Returns the whole number at a JSON pointer.
    pub fn i64(&self, pointer: &str) -> Option<i64> {
        self.at(pointer)?.scalar(&self.source())?.parse().ok()
    }

    /// Deserializes the value into a type of the hook. Returns [`Fault::BadInput`] if it does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        let value = self.value();
        self.unreadable()
            .map_or_else(|| T::deserialize(value).map_err(Fault::bad_input), |why| Err(Fault::bad_input(why)))
    }

    /// Returns a copy with one value replaced or added. Creates missing objects on the path.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// let input = Json::from(json!({"file_path": "/etc/hosts", "content": "…"}));
    /// let moved = input.with("/file_path", "/sandbox/etc/hosts")?;
    /// assert_eq!(moved, json!({"file_path": "/sandbox/etc/hosts", "content": "…"}).into());
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn with(&self, pointer: &str, value: impl Into<Value>) -> Result<Self> {
        let mut root = self.value().clone();
        let mut place = &mut root;
        for step in steps(pointer) {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            let next = match place {
                Value::Object(members) => Some(members.entry(step).or_insert(Value::Null)),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
                _ => None,
            };
            place = next.ok_or_else(|| Fault::bad_input(format!("nothing can be put at `{pointer}`")))?;
        }
        *place = value.into();
        Ok(Self::from(root))
    }

    pub(crate) fn from_text(text: String) -> Self {
        Self { root: Node::new(0..text.len()), text, unreadable: OnceCell::new() }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Returns the parse error, if reading the text found one.
    pub(crate) fn unreadable(&self) -> Option<&str> {
        self.unreadable.get().map(String::as_str)
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.text, unreadable: &self.unreadable }
    }

    fn at(&self, pointer: &str) -> Option<&Node> {
        self.root.find(&self.source(), &steps(pointer))
    }
}

/// Splits a pointer, or a plain member name, into member names and indices.
fn steps(pointer: &str) -> Vec<String> {
    match pointer.strip_prefix('/') {
        Some(rest) => rest.split('/').map(unescaped).collect(),
        None if pointer.is_empty() => Vec::new(),
        None => vec![pointer.to_owned()],
    }
}

/// Replaces `~1` by `/` and `~0` by `~`. `str::replace` would add a tenth to the size of a small hook.
fn unescaped(step: &str) -> String {
    let mut parts = step.split('~');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let slash = part.strip_prefix('1').map(|rest| ('/', rest));
        let (letter, rest) = slash.unwrap_or_else(|| ('~', part.strip_prefix('0').unwrap_or(part)));
        name.push(letter);
        name.push_str(rest);
    }
    name
}

/// Returns `null`.
impl Default for Json {
    fn default() -> Self {
        Self::from_text("null".to_owned())
    }
}

/// Compares values; the texts may differ.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Prints the JSON text.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        let text = value.to_string();
        Self { root: Node::of(value, text.len()), text, unreadable: OnceCell::new() }
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self::from(value.clone())
    }
}

impl From<&Json> for Json {
    fn from(json: &Json) -> Self {
        json.clone()
    }
}

/// Creates a JSON string. The text is not parsed.
impl From<&str> for Json {
    fn from(string: &str) -> Self {
        Self::from(Value::from(string))
    }
}

/// Creates a JSON string. The text is not parsed.
impl From<String> for Json {
    fn from(string: String) -> Self {
        Self::from(Value::from(string))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_parsed_on_first_use_and_preserved() {
        let json = Json::from_text(r#"{ "a": 1.10 }"#.into());
        assert_eq!(json.get("/a").and_then(Value::as_f64), Some(1.1));
        assert_eq!(json.into_text(), r#"{ "a": 1.10 }"#);
    }

    #[test]
    fn invalid_text_is_reported_after_its_first_use() {
        let json = Json::from_text("{".into());
        assert_eq!(json.unreadable(), None);
        assert_eq!(json.str("/command"), None);
        assert!(json.unreadable().is_some());
        assert!(matches!(json.parse::<Value>(), Err(Fault::BadInput(_))));
    }

    #[test]
    fn a_plain_name_is_a_member() {
        let json = Json::from(json!({"command": "ls", "a/b": true}));
        assert_eq!(json.str("command"), Some("ls"));
        assert_eq!(json.bool("a/b"), Some(true));
        assert_eq!(json.bool("/a~1b"), Some(true));
    }

    #[test]
    fn pointers_follow_their_rfc() {
        let json = Json::from(json!({"a~b": 1, "~1": 2, "a/b": {"": 3}, "list": [{"x": 4}], "~": 5, "x~2": 6}));
        for (pointer, expected) in [
            ("/a~0b", Some(1)),
            ("/~01", Some(2)),
            ("/a~1b/", Some(3)),
            ("/list/0/x", Some(4)),
            ("/list/00/x", None),
            ("/list/+0/x", None),
            ("/list/1/x", None),
            ("/~0", Some(5)),
            ("/~", Some(5)),
            ("/x~2", Some(6)),
            ("/list/x", None),
            ("a~b", Some(1)),
        ] {
            let text = Json::from_text(json.to_string());
            assert_eq!((json.i64(pointer), text.i64(pointer)), (expected, expected), "{pointer}");
            let value = || json.get(pointer).and_then(Value::as_i64);
            assert_eq!((value(), text.get(pointer).and_then(Value::as_i64)), (expected, expected), "{pointer}");
        }
    }

    #[test]
    fn lazy_reads_equal_the_parsed_value() {
        let text = r#" { "s" : "a\n\u00e9\ud83d\ude00" , "b" : true , "n" : -7 , "f" : 1.5 , "z" : null , "o" : { "s" : [ "x" , [ ] ] } } "#;
        let json = Json::from_text(text.into());
        assert_eq!(json.str("s"), Some("a\né😀"));
        assert_eq!(json.str("/o/s/0"), Some("x"));
        assert_eq!((json.bool("b"), json.i64("n"), json.i64("f")), (Some(true), Some(-7), None));
        assert_eq!((json.str("n"), json.str("z"), json.str("o"), json.bool("s")), (None, None, None, None));
        assert_eq!(json.get("/o"), Some(&json!({"s": ["x", []]})));
        assert_eq!(json.unreadable(), None);
        let broken = Json::from_text(r#"{"s":"\ud800","t":"x"}"#.into());
        assert_eq!((broken.str("t"), broken.unreadable()), (Some("x"), None));
        assert_eq!(broken.str("s"), None);
        assert!(broken.unreadable().is_some());
    }

    #[test]
    fn with_replaces_adds_and_creates_parents() {
        let json = Json::from(json!({"a": [1, 2], "b": "x"}));
        assert_eq!(json.with("/a/1", 3), Ok(json!({"a": [1, 3], "b": "x"}).into()));
        assert_eq!(json.with("/c/d", true), Ok(json!({"a": [1, 2], "b": "x", "c": {"d": true}}).into()));
        assert_eq!(json.with("", 1), Ok(json!(1).into()));
        assert!(json.with("/a/7", 0).is_err());
        assert!(json.with("/b/c", 0).is_err());
    }

    #[test]
    fn parse_names_the_mismatch() {
        #[derive(serde::Deserialize, Debug)]
        struct Bash {
            command: String,
        }
        let json = Json::from(json!({"command": "ls"}));
        assert_eq!(json.parse::<Bash>().map(|bash| bash.command), Ok("ls".to_owned()));
        let fault = Json::from(json!({"command": 1})).parse::<Bash>().map(|bash| bash.command);
        assert!(matches!(&fault, Err(Fault::BadInput(why)) if why.contains("expected a string")), "{fault:?}");
    }
}
