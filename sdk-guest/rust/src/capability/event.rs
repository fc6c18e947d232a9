//! The event as the client sent it. Always granted.

use super::host;
use crate::Json;

/// Returns the whole event as it came over the wire. Use it for fields that the contract does not have. If the dialect
/// chains hooks, rewrites of earlier hooks are applied. The host copies the event only for hooks that call this.
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
