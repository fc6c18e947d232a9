//! The envelope of a JSON-RPC 2.0 line. Parameters are not parsed here.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

/// One line from the client.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// A message that the client waits for a reply to.
    Request {
        /// The id of the reply.
        id: Value,
        /// The method: `hook.before_tool`, …
        method: String,
    },
    /// A message without a reply.
    Notification {
        /// The method: `hook.event`, …
        method: String,
    },
    /// A line that is not a valid message.
    Invalid {
        /// The id of the reply, if it could be read.
        id: Option<Value>,
        /// The method, if it could be read.
        method: Option<String>,
        /// The error.
        error: RpcError,
    },
}

/// A JSON-RPC 2.0 error. <https://www.jsonrpc.org/specification#error_object>
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
}

impl RpcError {
    /// "Invalid JSON was received by the server."
    pub(super) fn parse(why: impl fmt::Display) -> Self {
        Self { code: -32700, message: format!("not JSON: {why}") }
    }

    /// "The JSON sent is not a valid Request object."
    pub(super) fn request(why: impl Into<String>) -> Self {
        Self { code: -32600, message: why.into() }
    }

    /// "The method does not exist / is not available."
    pub(super) fn method(method: &str) -> Self {
        Self { code: -32601, message: format!("no method `{}` here", hookbox_protocol::json::shorten(method, 60)) }
    }

    /// "Invalid method parameter(s)."
    pub(super) fn params(why: impl fmt::Display) -> Self {
        Self { code: -32602, message: why.to_string() }
    }

    /// "Reserved for implementation-defined server-errors": an error of hookbox.
    pub(super) fn ours(why: impl fmt::Display) -> Self {
        Self { code: -32000, message: why.to_string() }
    }

    /// The error as a reply line.
    pub(super) fn reply(&self, id: &Value) -> Value {
        let message = hookbox_protocol::json::shorten(&self.message, 4096);
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": self.code, "message": message } })
    }
}

impl Message {
    /// Reads the envelope of a line. Fields before a syntax error count: a line that ends within its parameters still
    /// has its id.
    pub(super) fn read(line: &[u8]) -> Self {
        let mut head = Head::default();
        let read = Deserializer::deserialize_any(&mut serde_json::Deserializer::from_slice(line), Seed(&mut head));
        let Head { version, id, method, params_ok, repeated } = head;
        let id = id.filter(|id| id.is_string() || id.is_number());
        // picoclaw.md#hookevent: "`id` is 0 or absent."
        let is_request = id.as_ref().is_some_and(|id| id.as_u64() != Some(0));
        let method = method.and_then(|method| method.as_str().map(str::to_owned));
        let broken = |error| Self::Invalid { id: id.clone().filter(|_| is_request), method: method.clone(), error };
        if let Err(error) = read {
            return broken(if error.is_data() { RpcError::request(error.to_string()) } else { RpcError::parse(error) });
        }
        if let Some(key) = repeated {
            return broken(RpcError::request(format!("`{key}` is repeated")));
        }
        if version.as_ref().and_then(Value::as_str) != Some("2.0") {
            return broken(RpcError::request("`jsonrpc` is not \"2.0\""));
        }
        if is_request && id.as_ref().and_then(Value::as_u64).is_none() {
            return broken(RpcError::request("`id` is not a whole number"));
        }
        let Some(method) = method.clone() else { return broken(RpcError::request("`method` is not a string")) };
        if !params_ok {
            return broken(RpcError::params("`params` is not an object"));
        }
        match id.filter(|_| is_request) {
            Some(id) => Self::Request { id, method },
            None => Self::Notification { method },
        }
    }
}

#[derive(Default)]
struct Head {
    version: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    params_ok: bool,
    /// A key that occurs twice. Which of the values counts differs between JSON parsers.
    repeated: Option<&'static str>,
}

/// Fills a [`Head`] with the fields before the first error.
struct Seed<'a>(&'a mut Head);

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message, an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.params_ok = true;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "jsonrpc" => self.0.version = Some(map.next_value()?),
                "id" => {
                    let (before, id) = (self.0.id.take(), map.next_value::<Value>()?);
                    self.0.repeated = before.as_ref().map(|_| "id").or(self.0.repeated);
                    // The client uses the last id. The id under which it waits is the one that is not 0.
                    let waits = |id: &Value| !id.is_null() && id.as_u64() != Some(0);
                    self.0.id = Some(before.filter(|before| waits(before) && !waits(&id)).unwrap_or(id));
                }
                "method" => {
                    let (before, method) = (self.0.method.take(), map.next_value::<Value>()?);
                    self.0.repeated = before.as_ref().map(|_| "method").or(self.0.repeated);
                    // The strictest method counts: an approval, then a gate, then a notification.
                    let rank = |method: &Value| match method.as_str() {
                        Some("hook.approve_tool") => 3,
                        Some("hook.before_tool") => 2,
                        Some("hook.event" | "hook.runtime_event" | "hook.hello") | None => 0,
                        Some(_) => 1,
                    };
                    self.0.method = Some(before.filter(|before| rank(before) > rank(&method)).unwrap_or(method));
                }
                "params" => self.0.params_ok = map.next_value_seed(IsObject)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Skips a value. Returns true if it is an object or `null`, which counts as absent.
struct IsObject;

impl<'de> DeserializeSeed<'de> for IsObject {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        let raw = <&serde_json::value::RawValue as serde::Deserialize>::deserialize(from)?;
        Ok(raw.get().starts_with('{') || raw.get() == "null")
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Option<Value>, i32) {
        match Message::read(line.as_bytes()) {
            Message::Invalid { id, error, .. } => (id, error.code),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_id_distinguishes_requests_from_notifications() {
        let request =
            Message::read(br#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","params":{"tool":"exec"}}"#);
        assert_eq!(request, Message::Request { id: json!(7), method: "hook.before_tool".into() });
        for id in ["", r#""id":0,"#, r#""id":null,"#] {
            let line = format!(r#"{{"jsonrpc":"2.0",{id}"method":"hook.event","params":{{}}}}"#);
            assert_eq!(Message::read(line.as_bytes()), Message::Notification { method: "hook.event".into() }, "{line}");
        }
    }

    #[test]
    fn an_unreadable_request_is_answered_under_its_id() {
        assert_eq!(code("nonsense"), (None, -32700));
        assert_eq!(code("[1]"), (None, -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{"#), (Some(json!(1)), -32700));
        assert_eq!(code(r#"{"jsonrpc":"1.0","id":2,"method":"m"}"#), (Some(json!(2)), -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#), (Some(json!("a")), -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":3,"method":9}"#), (Some(json!(3)), -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":4,"method":"m","params":[]}"#), (Some(json!(4)), -32602));
        assert_eq!(code(r#"{"jsonrpc":"2.0","method":4}"#), (None, -32600));
    }
}
