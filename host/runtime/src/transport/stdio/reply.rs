//! The reply to a request: the verdict, or a block or an error that no hook gave.

use serde_json::{Value, json};

use super::{budget::kind, message::RpcError, request::Request};
use crate::{
    Dialect, ErrorKind, Response,
    dialect::picoclaw::{self, DIALECT},
    event::EventKind,
};

/// The reply to a request.
pub(super) fn of(response: Response, request: &Request) -> String {
    let Request { id, method, line, broken, .. } = request;
    let method = method.as_deref();
    // Without a verdict, the method of a broken line tells more than the words for any method in stdout.
    let is_nameless = broken.is_some() && response.blocks && response.verdict().is_none();
    if !response.stdout.is_empty() && !is_nameless {
        return response.stdout;
    }
    let Some(failed) = &response.error else {
        return RpcError::ours("there is no answer to this").reply(id).to_string();
    };
    let error = match (broken, failed.kind) {
        (Some(broken), _) => &broken.error,
        (None, ErrorKind::Event) => &RpcError::params(&failed.message),
        (None, _) => &RpcError::ours(&failed.message),
    };
    if response.blocks {
        let reason = response.undelivered.as_deref().unwrap_or(&failed.message);
        block(id, method, line, reason).to_string()
    } else {
        // An error that does not block. The client ignores it.
        refusal(id, method, error).to_string()
    }
}

/// A block in the words of the method. For an unknown method, `line` may show that the request is about a tool.
fn block(id: &Value, method: Option<&str>, line: &[u8], why: &str) -> Value {
    let seen = |name| DIALECT.glimpse(line, name);
    let tool = || seen(None).or_else(|| seen(Some("hook.before_tool"))).and_then(|seen| seen.tool);
    let is_tool = method.is_none() && tool().is_some();
    // A method that is known to no version can only be an interceptor.
    let kind = method.map(|method| kind(method).unwrap_or(EventKind::OtherEvent));
    result(id, &picoclaw::block(kind, is_tool, why))
}

/// An error reply. decisions.md#the-real-picoclaw: "`approve_tool` answered with `{}` or an action means *denied*". An
/// error means the same, but a refusal includes the reason.
fn refusal(id: &Value, method: Option<&str>, error: &RpcError) -> Value {
    if method == Some("hook.approve_tool") {
        return result(id, &picoclaw::block(Some(EventKind::PermissionRequest), false, &error.message));
    }
    error.reply(id)
}

/// The reply with a result.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
