//! `other-event`

use serde_json::Value;

interface! {
    OtherEvent(event, input) => other_event::handle(
        payload: String = Value::Object(input.payload.clone()).to_string()
    ) -> Option<String>,
    (output, reader) => reader.dialect_output(output)
}
