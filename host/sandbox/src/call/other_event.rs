//! `other-event`

interface! {
    OtherEvent(event, input) => other_event::handle(
        payload: &str = &event.raw.object(&input.payload)
    ) -> Option<String>,
    (output, reader) => reader.dialect_output(output)
}
