//! Helpers that the tests of several crates share.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::missing_panics_doc)]

pub mod authority_laws;
mod event;
pub mod examples;
pub mod fuzzing;
#[cfg(feature = "guest")]
pub mod guest;
pub mod node;
pub mod process;
#[cfg(feature = "registry")]
pub mod registry;
#[cfg(feature = "server")]
pub mod server;
pub mod spec;
#[cfg(feature = "vectors")]
pub mod vectors;

pub use event::{event, sent};
