//! Generated from the WIT package, one world per event.
//!
//! Every event has its own `export` macro, which also writes the custom section for that export. So a hook's component
//! exports exactly what its author listed. Types and capabilities are generated once and shared.

// All code here is generated: the canonical ABI needs `unsafe`, and the documentation is in the WIT.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

/// The shared types and the capabilities a hook may call.
pub mod shared {
    wit_bindgen::generate!({
        path: "wit",
        world: "capabilities",
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

macro_rules! event_worlds {
    ($($module:ident = $world:tt exports $export:tt,)*) => {$(
        pub mod $module {
            wit_bindgen::generate!({
                path: "wit",
                world: $world,
                additional_derives: [PartialEq],
                pub_export_macro: true,
                export_macro_name: $export,
                with: {
                    "hookbox:hooks/types@0.2.0": crate::bindings::shared::hookbox::hooks::types,
                    "hookbox:hooks/log@0.2.0": crate::bindings::shared::hookbox::hooks::log,
                    "hookbox:hooks/config@0.2.0": crate::bindings::shared::hookbox::hooks::config,
                    "hookbox:hooks/event@0.2.0": crate::bindings::shared::hookbox::hooks::event,
                    "hookbox:hooks/state@0.2.0": crate::bindings::shared::hookbox::hooks::state,
                    "hookbox:hooks/http@0.2.0": crate::bindings::shared::hookbox::hooks::http,
                    "hookbox:hooks/llm@0.2.0": crate::bindings::shared::hookbox::hooks::llm,
                },
            });
        }
    )*};
}

mod events;

pub use events::*;
