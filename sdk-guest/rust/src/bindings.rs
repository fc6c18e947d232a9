//! The bindings to the contract, written by `just bindings`: one world per event.
//!
//! Every event has its own `export` macro, which also writes the custom section for that export. So a hook's component
//! exports exactly what its author listed. Types and capabilities are generated once and shared.

// All code here is generated: the canonical ABI needs `unsafe`, and the documentation is in the WIT.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod events;
/// The shared types and the capabilities a hook may call.
#[rustfmt::skip]
pub mod shared;

pub use events::*;
