//! A dialect as a third party would write it: one folder, without any knowledge of the other dialects.
//!
//! The client sends `{"op":"run","tool":"sh","args":{…}}` and reads `{"go":true}` or `{"go":false,"why":"…"}`.

use hookbox::{
    Decision, DecisionKind, DecodeError, Dialect, Event, EventKind, HookOutput, Note,
    dialect::{ConfigShape, EventSpec, Expressible, Flow, Outcome},
    event::{decode_fields, encode_fields},
    json::{Object, parse_object},
    matcher::MatchStyle,
};
use serde_json::{Value, json};

pub static TOY: Toy = Toy;

pub struct Toy;

const MUTE: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: false, halt: &[], env: false };

static SPECS: &[EventSpec] = &[EventSpec {
    name: "run",
    kind: EventKind::PreToolUse,
    matched: Some("tool_name"),
    blockable: true,
    required: &["tool", "args"],
    fields: &[],
    names: &[("tool", "tool_name"), ("args", "tool_input")],
    expressible: Expressible { decisions: &[DecisionKind::Deny], ..MUTE },
}];

static OTHER: EventSpec = EventSpec {
    name: "",
    kind: EventKind::OtherEvent,
    matched: None,
    blockable: false,
    required: &[],
    fields: &[],
    names: &[],
    expressible: MUTE,
};

impl Dialect for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn specs(&self) -> &'static [EventSpec] {
        SPECS
    }

    fn other_spec(&self) -> &'static EventSpec {
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
        let spec = self.spec_by_name(&name).unwrap_or(self.other_spec());
        let mut fields = raw.clone();
        fields.shift_remove("op");
        let event = decode_fields(spec, &[], "", fields)?;
        Ok(Event { name, raw: Value::Object(raw).into(), ..event })
    }

    fn encode_event(&self, event: &Event) -> Value {
        let mut wire = encode_fields(self.spec(event.kind()), &[], event);
        wire.insert("op".into(), event.name.clone().into());
        Value::Object(wire)
    }

    fn decode_output(&self, _: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        let why = wire.get("why").and_then(Value::as_str).unwrap_or("no");
        Ok(match wire.get("go") {
            Some(Value::Bool(true)) | None => (HookOutput::default(), Vec::new()),
            Some(Value::Bool(false)) => (HookOutput::decided(Decision::Deny, why), Vec::new()),
            Some(other) => return Err(DecodeError::wrong_type("/go", "true or false", other)),
        })
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        // A third party's dialect may have bugs.
        assert!(event.call.as_ref().is_none_or(|call| call.name != "bug"), "a bug");
        let output = outputs.iter().find(|output| output.decision.is_some()).cloned().unwrap_or_default();
        Outcome { output, clause: "The first no is the answer.", notes: Vec::new() }
    }

    fn encode_outcome(&self, _: &Event, outcome: &HookOutput) -> Option<Value> {
        Some(match &outcome.decision {
            Some(_) => json!({ "go": false, "why": outcome.reason }),
            None => json!({ "go": true }),
        })
    }
}
