//! `other-event`

use super::input::object;

interface! {
    OtherEvent(event, input) => other_event::handle(
        payload: &str = &object(event, &input.payload)
    ) -> Option<String>,
    (output, reader) => reader.dialect_output(output)
}
