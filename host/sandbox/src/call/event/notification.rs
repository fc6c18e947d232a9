// Written by `just bindings` from the contract. Do not edit.

//! `notification`

use crate::bindings::{exports::hookbox::hooks::notification::Event, hookbox::hooks::types::Effects};

interface! {
    Notification(event, input) => notification::handle(
        fields: Event = Event {
            message: input.message.as_deref(),
            title: input.title.as_deref(),
            notification_type: input.notification_type.as_deref(),
        }
    ) -> Effects,
    (effects, reader) => reader.effects(effects)
}
