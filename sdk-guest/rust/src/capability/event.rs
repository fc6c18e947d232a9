//! The event as the client sent it. Always granted: the hook was given this event.

use super::host;
use crate::Json;

/// The whole event as it came over the wire, with rewrites of earlier hooks applied where the dialect chains: for fields
/// that the contract does not have. The host copies it only for hooks that ask.
///
/// ```
/// use hookbox_guest::prelude::*;
///
/// # hookbox_guest::testing::host().raw_event(json!({"model": "m-1"}));
/// assert_eq!(raw_event().str("/model"), Some("m-1"));
/// ```
pub fn raw_event() -> Json {
    Json::from_text(host::event::raw())
}
