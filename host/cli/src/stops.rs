//! Counts how often in a row hooks kept an agent going. Some clients have no limit, so a hook that always blocks would
//! never let the agent stop.

use hookbox::{Dialect, EventKind, dialect::EventSpec, folders, private::Folder, sha256};
use serde_json::Value;

/// The limit, if this verdict exceeds it: then the agent may stop regardless of the hooks. `denies` is true if the
/// verdict keeps the agent going. Without a place for the count, there is no limit.
pub fn beyond(dialect: &dyn Dialect, spec: &EventSpec, denies: bool, wire: &[u8]) -> Option<u32> {
    let limit = dialect.stop_limit()?;
    if !matches!(spec.kind, EventKind::Stop | EventKind::SubagentStop) {
        return None;
    }
    let event: Value = serde_json::from_slice(wire).ok()?;
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let identity = [dialect.name(), spec.name, text("session_id"), text("agent_id")].join("\0");
    let name = sha256(identity.as_bytes());
    let folder = Folder::open(&folders::state()?.join("stops")).ok()?;
    if !denies {
        let _ = folder.remove(&name);
        return None;
    }
    let again = event.get("stop_hook_active") == Some(&Value::Bool(true));
    let before = folder.read(&name).ok().flatten().filter(|_| again);
    let before = before.and_then(|text| String::from_utf8(text).ok()?.parse::<u32>().ok()).unwrap_or_default();
    let _ = folder.write(&name, &[before.saturating_add(1).to_string().as_bytes()]);
    (before >= limit).then_some(limit)
}
