//! An event of any row of any dialect.

use hookbox_protocol::{Event, dialect::EventRow, event::decode_fields};
use serde_json::{Map, Value, json};

/// An event of this row, with the fields it must have and no others.
pub(crate) fn event(row: &EventRow) -> Event {
    let name = if row.name.is_empty() { "BrandNewEvent" } else { row.name };
    let candidates = [json!("x"), json!({}), json!([]), json!(1)];
    // Which type each required field has, the table does not say: try.
    (0..candidates.len().pow(u32::try_from(row.required.len()).unwrap()))
        .find_map(|mut choice| {
            let mut wire = Map::new();
            for field in row.required {
                wire.insert((*field).to_owned(), candidates[choice % candidates.len()].clone());
                choice /= candidates.len();
            }
            let (origin, call, input, extra) = decode_fields(row, &[], "", &wire).ok()?;
            Some(Event { name: name.to_owned(), origin, call, input, extra, raw: Value::Object(wire) })
        })
        .unwrap_or_else(|| panic!("no event of {name} decodes"))
}
