//! The daemon: decides for the hooks of many tenants over HTTP.
//!
//! It is built on [`hookbox::Runtime`] and [`hookbox::HookSet`]. The daemon handles authentication, quotas and
//! deadlines. The library makes the decisions.

mod admin;
mod agree;
mod answer;
mod app;
mod blocking;
mod bodies;
mod clock;
mod console;
mod decide;
mod event;
mod fetch;
mod files;
mod gate;
mod hosts;
mod idle;
mod listen;
mod log;
mod metrics;
mod pages;
mod patience;
mod problem;
mod processor;
mod queue;
mod quota;
mod records;
mod routes;
mod server;
mod settings;
mod tenant;
mod tenants;
mod tls;
mod token;
mod traces;
mod ui;

pub use agree::agree;
pub use log::Log;
pub use problem::Problem;
pub use server::{ServeError, Server};
pub use settings::{Address, LogForm, Registries, Settings, SettingsError};
pub use token::Token;
pub use traces::Traces;
