//! `notification`

use crate::bindings::{exports::hookbox::hooks::notification::Event, hookbox::hooks::types::Effects};

interface! {
    Notification(event, input) => notification::handle(
        notification: Event = Event {
            message: input.message.clone(),
            title: input.title.clone(),
            notification_type: input.notification_type.clone(),
        }
    ) -> Effects,
    (effects, reader) => reader.effects(effects)
}
