//! Messages for whoever runs the hook. Never part of the protocol. Always granted; the volume is capped.

use super::host;
use crate::bindings::shared::hookbox::hooks::log as wit;

pub use wit::Level;

/// For whoever debugs the hook.
pub fn debug(message: impl AsRef<str>) {
    host::log::log(Level::Debug, message.as_ref());
}

/// For whoever wants to know what the hook did.
pub fn info(message: impl AsRef<str>) {
    host::log::log(Level::Info, message.as_ref());
}

/// Something is not as it should be; the hook goes on.
pub fn warn(message: impl AsRef<str>) {
    host::log::log(Level::Warn, message.as_ref());
}

/// Something is broken.
pub fn error(message: impl AsRef<str>) {
    host::log::log(Level::Error, message.as_ref());
}
