//! `other-event`

interface! {
    OtherEvent(event, input) => other_event::handle(
        payload: &str = &input.payload.to_text()
    ) -> Option<String>,
    (output, reader) => reader.dialect_output(output)
}
