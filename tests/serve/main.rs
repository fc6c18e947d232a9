//! `hookbox serve` from the client's side: real HTTP, real components, and a separate process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp, // counts, which are exact
    missing_docs
)]
#![allow(clippy::needless_pass_by_value)] // `json!` makes values

mod answers;
mod connect;
mod console;
mod crowds;
mod daemon;
mod dashboards;
mod files;
mod health;
mod known;
mod load;
mod processes;
mod records;
mod registries;
mod reload;
mod seeing;
mod shared;
mod strangers;
mod tenants;
mod tls;
mod top;
