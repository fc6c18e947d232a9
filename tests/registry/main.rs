//! Hooks from registries, from `push` to the verdict, with a real registry: references, the lock, approvals, and the
//! limits of an attacker who can change a checkout or a tag.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod attacks;
mod clients;
mod interop;
mod keyless;
mod lock;
mod publishers;
mod setup;
