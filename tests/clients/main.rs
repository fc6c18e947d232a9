//! The settings of clients: writing them, removing them and checking them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod doctor;
mod install;
mod links;
mod machine;
mod moves;
mod paths;
mod refusals;
mod rejected;
mod words;
