//! A sixth dialect, as somebody else would write one: one folder, and nothing in it knows the other five.
//!
//! The client sends `{"op":"run","tool":"sh","args":{…}}` and reads `{"go":true}` or `{"go":false,"why":"…"}`.

use hookbox::{
    Answer, DecodeError, Dialect, Event, Kind, Note, Rule, RuleKind,
    dialect::{ConfigShape, EventRow, Flow, Merged, Says},
    event::{decode_fields, encode_fields},
    json::{Object, parse_object},
    matcher::MatchStyle,
};
use serde_json::{Value, json};

pub static TOY: Toy = Toy;

pub struct Toy;

const MUTE: Says = Says { rules: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };

static ROWS: &[EventRow] = &[EventRow {
    name: "run",
    kind: Kind::PreToolUse,
    matched: Some("tool_name"),
    blockable: true,
    required: &["tool", "args"],
    names: &[("tool", "tool_name"), ("args", "tool_input")],
    says: Says { rules: &[RuleKind::Deny], ..MUTE },
}];

static OTHER: EventRow = EventRow {
    name: "",
    kind: Kind::OtherEvent,
    matched: None,
    blockable: false,
    required: &[],
    names: &[],
    says: MUTE,
};

impl Dialect for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn rows(&self) -> &'static [EventRow] {
        ROWS
    }

    fn other_row(&self) -> &'static EventRow {
        &OTHER
    }

    fn flow(&self) -> Flow {
        Flow::Sequential
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Flat
    }

    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Whole)
    }

    fn known_keys(&self) -> &'static [&'static str] {
        &["go", "why"]
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        let raw = parse_object(wire)?;
        let name = name.or_else(|| raw.get("op")?.as_str()).unwrap_or_default().to_owned();
        let row = self.row_by_name(&name).unwrap_or(self.other_row());
        let mut fields = raw.clone();
        fields.shift_remove("op");
        let (origin, call, input, extra) = decode_fields(row, &[], "", &fields)?;
        Ok(Event { name, origin, call, input, extra, raw: Value::Object(raw) })
    }

    fn encode_event(&self, event: &Event) -> Value {
        let mut wire = encode_fields(self.row(event.kind()), &[], event);
        wire.insert("op".into(), event.name.clone().into());
        Value::Object(wire)
    }

    fn decode_answer(&self, _: &Event, wire: &Object) -> Result<(Answer, Vec<Note>), DecodeError> {
        let why = wire.get("why").and_then(Value::as_str).unwrap_or("no");
        Ok(match wire.get("go") {
            Some(Value::Bool(true)) | None => (Answer::default(), Vec::new()),
            Some(Value::Bool(false)) => (Answer::rule(Rule::Deny, why), Vec::new()),
            Some(other) => return Err(DecodeError::wrong_type("/go", "true or false", other)),
        })
    }

    fn merge(&self, _: &Event, answers: &[Answer]) -> Merged {
        let answer = answers.iter().find(|answer| answer.rule.is_some()).cloned().unwrap_or_default();
        Merged { answer, clause: "The first no is the answer.", notes: Vec::new() }
    }

    fn encode_verdict(&self, _: &Event, merged: &Answer) -> Option<Value> {
        Some(match &merged.rule {
            Some(_) => json!({ "go": false, "why": merged.reason }),
            None => json!({ "go": true }),
        })
    }
}
