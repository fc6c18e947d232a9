//! The daemon: decides for the hooks of many tenants over HTTP.
//!
//! It is built on [`hookbox::Runtime`] and [`hookbox::HookSet`]. The daemon handles authentication, quotas and
//! deadlines. The library makes the decisions.

mod admin;
mod agree;
mod app;
mod bodies;
mod console;
mod decide;
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
mod settings;
mod tenant;
mod tenants;
mod tls;
mod token;
mod traces;

pub use agree::agree;
pub use app::{ServeError, Server};
pub use fetch::Registries;
pub use log::Log;
pub use problem::Problem;
pub use settings::{Address, LogForm, Settings, SettingsError};
pub use token::Token;
pub use traces::Traces;
