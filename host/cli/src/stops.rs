//! How often in a row hooks have kept an agent going: some clients have no limit, and a hook that always blocks never ends.

use hookbox::{Verdict, dialect, folders, private::Folder, sha256};
use hookbox_protocol::{Decision, EventKind};
use serde_json::Value;

/// The limit, when this verdict is beyond it: then the agent may stop, whatever hooks say. Where nothing can be kept,
/// nothing is counted.
pub fn beyond(verdict: &Verdict, wire: &[u8]) -> Option<u32> {
    let dialect = dialect::by_name(verdict.dialect)?;
    let limit = dialect.stop_limit()?;
    if !matches!(dialect.spec_by_name(&verdict.event)?.kind, EventKind::Stop | EventKind::SubagentStop) {
        return None;
    }
    let event: Value = serde_json::from_slice(wire).ok()?;
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let whose = [dialect.name(), &verdict.event, text("session_id"), text("agent_id")].join("\0");
    let name = sha256(whose.as_bytes());
    let folder = Folder::open(&folders::state()?.join("stops")).ok()?;
    if verdict.output().decision != Some(Decision::Deny) {
        let _ = folder.remove(&name);
        return None;
    }
    let again = event.get("stop_hook_active") == Some(&Value::Bool(true));
    let before = folder.read(&name).ok().flatten().filter(|_| again);
    let before = before.and_then(|text| String::from_utf8(text).ok()?.parse::<u32>().ok()).unwrap_or_default();
    let _ = folder.write(&name, &[before.saturating_add(1).to_string().as_bytes()]);
    (before >= limit).then_some(limit)
}
