//! The console's form of a verdict: a short row for the list, and the record with its explanation.

use hookbox::{HookReport, HookSet, Response};
use serde_json::{Map, Value, json};

use super::outcome::{Part, any_enforced_failed, is_degraded, parts, would_differ};

/// The largest record, in bytes. Long texts of a larger one are shortened.
const BYTES: usize = 16 << 10;
/// The maximum length of a text in a row, in characters.
const TEXT: usize = 200;
/// The maximum length of a name in a row, in characters.
const NAME: usize = 80;
/// The maximum number of hook names in a row.
const NAMES: usize = 20;

/// A verdict without an id.
#[derive(Debug)]
pub struct VerdictRow {
    pub dialect: &'static str,
    pub parts: Vec<Part>,
    /// The name of the event, the tool, and the outcome.
    pub event: Value,
    flags: Vec<&'static str>,
    explain: Vec<String>,
    /// The row and the record, set by [`VerdictRow::finish`].
    row: Map<String, Value>,
    record: Value,
}

impl VerdictRow {
    /// The parts of a response that are not in its record. `refused` is true if a problem prevented the hooks from
    /// running.
    pub fn of(set: &HookSet, response: &Response, refused: bool) -> Self {
        let verdict = response.verdict();
        // A hook that did not run did not fail.
        let decided = verdict.filter(|_| !refused);
        let flag = |yes: bool, name| yes.then_some(name);
        let flags = [
            flag(response.blocks, "denied"),
            flag(decided.is_some_and(any_enforced_failed), "failed"),
            flag(refused || response.error.is_some(), "refused"),
            flag(decided.is_some_and(is_degraded), "degraded"),
            flag(decided.is_some_and(would_differ), "would"),
        ];
        Self {
            dialect: set.dialect().name(),
            parts: decided.map(parts).unwrap_or_default(),
            event: Value::Null,
            flags: flags.into_iter().flatten().collect(),
            explain: verdict.map(hookbox::Verdict::explain).unwrap_or_default(),
            row: verdict.map(row).unwrap_or_default(),
            record: Value::Null,
        }
    }

    /// Sets the record, which includes the tenant's name.
    pub fn finish(mut self, record: Value) -> Self {
        let text = |key: &str, most| record.get(key).and_then(Value::as_str).map(|text| hookbox::shorten(text, most));
        self.event = json!({ "event": text("event", NAME), "tool": text("tool", NAME) });
        for key in ["event", "tool", "dialect", "verdict", "tenant"] {
            self.row.insert(key.into(), json!(text(key, NAME)));
        }
        for key in ["reason", "problem", "wouldBe"] {
            if let Some(text) = text(key, TEXT) {
                self.row.insert(key.into(), text.into());
            }
        }
        self.row.insert("at".into(), record.get("at").cloned().unwrap_or_default());
        self.row.insert("flags".into(), json!(self.flags));
        self.record = record;
        if let Some(record) = self.record.as_object_mut() {
            record.insert("flags".into(), json!(self.flags));
            record.insert("explain".into(), self.explain.join("\n").into());
        }
        if self.record.to_string().len() > BYTES {
            shorten(&mut self.record);
        }
        self
    }

    /// The row and the record as text, with this id.
    pub fn texts(&self, id: &str) -> (String, String) {
        let with_id = |fields: &Map<String, Value>| {
            let id = std::iter::once(("id".to_owned(), Value::from(id)));
            let fields = fields.iter().map(|(key, value)| (key.clone(), value.clone()));
            Value::Object(id.chain(fields).collect()).to_string()
        };
        (with_id(&self.row), self.record.as_object().map(with_id).unwrap_or_default())
    }
}

/// The facts of a row that are not in a record.
fn row(verdict: &hookbox::Verdict) -> Map<String, Value> {
    let name = |hook: &HookReport| Value::from(hookbox::shorten(&hook.name, NAME));
    let ran = || verdict.hooks.iter().filter_map(|hook| Some((hook, hook.run()?)));
    let mut row = Map::new();
    row.insert("by".into(), verdict.decider().and_then(|index| verdict.hooks.get(index)).map(name).into());
    row.insert("hooks".into(), ran().take(NAMES).map(|(hook, _)| name(hook)).collect());
    let us: u128 = ran().map(|(_, run)| run.time.as_micros()).sum();
    row.insert("us".into(), json!(u64::try_from(us).unwrap_or(u64::MAX)));
    row.insert("fuel".into(), ran().filter_map(|(_, run)| run.fuel).fold(0, u64::saturating_add).into());
    row
}

/// Shortens the long texts of a record.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => *text = hookbox::shorten(text, TEXT),
        Value::Array(items) => {
            items.truncate(50);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => {
            fields.shift_remove("output");
            fields.insert("shortened".into(), true.into());
            fields.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{BYTES, VerdictRow};

    fn seen(record: Value) -> VerdictRow {
        let seen = VerdictRow {
            dialect: "claude",
            parts: Vec::new(),
            event: Value::Null,
            flags: vec!["denied"],
            explain: vec!["PreToolUse  Bash".into(), "verdict  deny".into()],
            row: Map::new(),
            record: Value::Null,
        };
        seen.finish(record)
    }

    #[test]
    fn texts_are_limited() {
        let long = "x".repeat(1 << 20);
        let hooks = vec![json!({ "reason": long }); 100];
        let seen = seen(json!({
            "event": "PreToolUse", "tool": long, "reason": long, "tenant": "acme", "output": { "x": long }, "hooks": hooks,
        }));
        let (row, record) = seen.texts("1-2");
        assert!(row.len() < 1000 && row.contains(r#""id":"1-2""#) && row.contains("PreToolUse"), "{row}");
        assert!(record.len() < BYTES && record.contains(r#""shortened":true"#), "{}", record.len());
    }

    #[test]
    fn a_record_has_its_explanation() {
        let (row, record) = seen(json!({ "event": "Stop", "at": 7, "output": null })).texts("1-2");
        assert!(record.contains(r"PreToolUse  Bash\nverdict  deny") && !record.contains("shortened"), "{record}");
        assert!(row.contains(r#""at":7"#) && row.contains(r#""flags":["denied"]"#), "{row}");
    }
}
