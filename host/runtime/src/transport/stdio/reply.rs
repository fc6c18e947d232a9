//! Replies that no hook gave: blocks and errors.

use serde_json::{Value, json};

use super::{budget::kind, message::RpcError};
use crate::{Dialect, dialect, event::EventKind, json::shorten};

/// A block in the words of the method. For an unknown method, in words that every possible method accepts; `line` may
/// show that the request is about a tool.
pub(super) fn block(id: &Value, method: Option<&str>, line: &[u8], why: &str) -> Value {
    let reason = shorten(why, 4096);
    let seen = |name| dialect::picoclaw::DIALECT.glimpse(line, name);
    let tool = || seen(None).or_else(|| seen(Some("hook.before_tool"))).and_then(|seen| seen.tool);
    let result = match method.map(kind) {
        Some(Some(EventKind::PermissionRequest)) => json!({ "approved": false, "reason": reason }),
        Some(Some(EventKind::PreToolUse)) => json!({ "action": "deny_tool", "reason": reason }),
        Some(_) => json!({ "action": "abort_turn", "reason": reason }),
        None if tool().is_some() => json!({ "action": "deny_tool", "approved": false, "reason": reason }),
        None => json!({ "action": "abort_turn", "approved": false, "reason": reason }),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// An error reply. decisions.md#the-real-picoclaw: "`approve_tool` answered with `{}` or an action means *denied*". An
/// error means the same, but a refusal includes the reason.
pub(super) fn refusal(id: &Value, method: Option<&str>, error: &RpcError) -> Value {
    if method == Some("hook.approve_tool") {
        let reason = shorten(&error.message, 4096);
        return json!({ "jsonrpc": "2.0", "id": id, "result": { "approved": false, "reason": reason } });
    }
    error.reply(id)
}
