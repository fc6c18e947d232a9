//! Replies that no hook gave: blocks and errors.

use serde_json::{Value, json};

use super::{budget::kind, message::RpcError};
use crate::{
    Dialect,
    dialect::picoclaw::{self, DIALECT},
    event::EventKind,
};

/// A block in the words of the method. For an unknown method, `line` may show that the request is about a tool.
pub(super) fn block(id: &Value, method: Option<&str>, line: &[u8], why: &str) -> Value {
    let seen = |name| DIALECT.glimpse(line, name);
    let tool = || seen(None).or_else(|| seen(Some("hook.before_tool"))).and_then(|seen| seen.tool);
    let is_tool = method.is_none() && tool().is_some();
    // A method that is known to no version can only be an interceptor.
    let kind = method.map(|method| kind(method).unwrap_or(EventKind::OtherEvent));
    result(id, &picoclaw::block(kind, is_tool, why))
}

/// An error reply. decisions.md#the-real-picoclaw: "`approve_tool` answered with `{}` or an action means *denied*". An
/// error means the same, but a refusal includes the reason.
pub(super) fn refusal(id: &Value, method: Option<&str>, error: &RpcError) -> Value {
    if method == Some("hook.approve_tool") {
        return result(id, &picoclaw::block(Some(EventKind::PermissionRequest), false, &error.message));
    }
    error.reply(id)
}

fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
