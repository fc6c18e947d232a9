//! How often in a row hooks have kept an agent going: some clients have no limit, and a hook that always blocks never ends.

use hookbox::{Dialect, Verdict, dialect, folders, private::Folder, sha256};
use hookbox_protocol::{Decision, EventKind};
use serde_json::Value;

/// The limit, when this verdict is beyond it: then the agent may stop, whatever hooks say. Where nothing can be kept,
/// nothing is counted.
pub fn beyond(verdict: &Verdict, wire: &[u8]) -> Option<u32> {
    let blocks = verdict.output().decision == Some(Decision::Deny);
    count(dialect::by_name(verdict.dialect)?, &verdict.event, blocks, wire)
}

/// The same of an answer that is already in the dialect's words.
pub fn answer_beyond(dialect: &str, name: Option<&str>, answer: &[u8], wire: &[u8]) -> Option<u32> {
    let dialect = dialect::by_name(dialect)?;
    dialect.stop_limit()?;
    let event = dialect.decode_event(wire, name).ok()?;
    let (output, _) = dialect.decode_output(&event, &serde_json::from_slice(answer).ok()?).ok()?;
    count(dialect, &event.name, output.decision == Some(Decision::Deny), wire)
}

fn count(dialect: &dyn Dialect, name: &str, blocks: bool, wire: &[u8]) -> Option<u32> {
    let limit = dialect.stop_limit()?;
    if !matches!(dialect.spec_by_name(name)?.kind, EventKind::Stop | EventKind::SubagentStop) {
        return None;
    }
    let event: Value = serde_json::from_slice(wire).ok()?;
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let whose = [dialect.name(), name, text("session_id"), text("agent_id")].join("\0");
    let name = sha256(whose.as_bytes());
    let folder = Folder::open(&folders::state()?.join("stops")).ok()?;
    if !blocks {
        let _ = folder.remove(&name);
        return None;
    }
    let again = event.get("stop_hook_active") == Some(&Value::Bool(true));
    let before = folder.read(&name).ok().flatten().filter(|_| again);
    let before = before.and_then(|text| String::from_utf8(text).ok()?.parse::<u32>().ok()).unwrap_or_default();
    let _ = folder.write(&name, &[before.saturating_add(1).to_string().as_bytes()]);
    (before >= limit).then_some(limit)
}
