//! Events of all rows of all dialects.

use hookbox_protocol::{
    Dialect, Event,
    dialect::EventSpec,
    event::{Raw, decode_fields},
};
use serde_json::{Map, Value, json};

/// Creates an event of this row with its required fields only.
pub fn event(spec: &EventSpec) -> Event {
    let name = if spec.name.is_empty() { "BrandNewEvent" } else { spec.name };
    let candidates = [json!("x"), json!({}), json!([]), json!(1)];
    // The table does not give the types of required fields, so try all of them.
    (0..candidates.len().pow(u32::try_from(spec.required.len()).unwrap()))
        .find_map(|mut choice| {
            let mut wire = Map::new();
            for field in spec.required {
                wire.insert((*field).to_owned(), candidates[choice % candidates.len()].clone());
                choice /= candidates.len();
            }
            let event = decode_fields(spec, &[], "", wire.clone()).ok()?;
            Some(Event { name: name.to_owned(), raw: Value::Object(wire).into(), ..event })
        })
        .unwrap_or_else(|| panic!("no event of {name} decodes"))
}

/// As [`event`], with the JSON of the dialect's client, so that its envelope can be answered.
pub fn sent(dialect: &dyn Dialect, spec: &EventSpec) -> Event {
    let mut event = Event { raw: Raw::default(), ..event(spec) };
    event.raw = dialect.encode_event(&event).into();
    event
}
