//! What `wit/` says, in Rust. Only `call` (records), `sandbox` (imports) and `component` (probing) look in here.

#![allow(missing_docs, unreachable_pub, clippy::pedantic)] // generated

wasmtime::component::bindgen!({
    path: "wit",
    world: "all-hooks",
    imports: {
        "hookbox:hooks/log": trappable,
        "hookbox:hooks/config": trappable,
        "hookbox:hooks/event": trappable,
        default: async | trappable,
    },
    exports: { default: async },
    // What a hook is given is lent to the call: an event may be large.
    ownership: Borrowing { duplicate_if_necessary: true },
});
