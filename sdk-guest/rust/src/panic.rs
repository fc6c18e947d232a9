//! A panic ends the call as a trap, and a trap carries no text. With the feature `panic-log` the text is logged first.
//! This is a feature because it makes the hook import `log`, and a hook should request only what it uses.

#[cfg(all(feature = "panic-log", target_family = "wasm"))]
pub(crate) fn report() {
    use std::sync::Once;

    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|panic| crate::log::error(panic.to_string()))));
}

#[cfg(not(all(feature = "panic-log", target_family = "wasm")))]
pub(crate) fn report() {}
