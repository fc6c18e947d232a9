//! Rust bindings generated from `wit/`. Only `call` (records), `sandbox` (imports) and `component` (probing) use them.

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
    // The guest borrows its parameters for the call, because an event may be large.
    ownership: Borrowing { duplicate_if_necessary: true },
});
