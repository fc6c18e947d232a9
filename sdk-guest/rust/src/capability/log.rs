//! Log messages for the operator. They are never part of the protocol. Always granted, up to the `logKiB` limit.

use super::host;
use crate::bindings::shared::hookbox::hooks::log as wit;

pub use wit::Level;

/// Logs a message for the author of the hook.
pub fn debug(message: impl AsRef<str>) {
    host::log::log(Level::Debug, message.as_ref());
}

/// Logs what the hook did.
pub fn info(message: impl AsRef<str>) {
    host::log::log(Level::Info, message.as_ref());
}

/// Logs a problem that does not stop the hook.
pub fn warn(message: impl AsRef<str>) {
    host::log::log(Level::Warn, message.as_ref());
}

/// Logs a failure.
pub fn error(message: impl AsRef<str>) {
    host::log::log(Level::Error, message.as_ref());
}
