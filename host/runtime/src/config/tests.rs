//! Tests of the configuration: tables of valid and invalid files.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod errors;
mod schema;
mod settings;
mod shapes;
mod warnings;

use std::{path::Path, time::Duration};

use hookbox_protocol::{FailurePolicy, authority::Authority};
use serde_json::Value;

use super::*;

fn parse_as(dialect: &str, text: &str) -> Result<Loaded, ConfigErrors> {
    Config::parse(text, Path::new("/project/hooks.json"), Some(dialect))
}

fn load(dialect: &str, text: &str) -> Config {
    parse_as(dialect, text).unwrap_or_else(|errors| panic!("{errors}")).config
}

/// Every error and warning, as "pointer: message; help".
fn messages(dialect: &str, text: &str) -> Vec<String> {
    let diagnostics = match parse_as(dialect, text) {
        Ok(loaded) => loaded.warnings,
        Err(errors) => errors.diagnostics,
    };
    let line = |d: &Diagnostic| format!("{}: {}; {}", d.pointer, d.message, d.help.as_deref().unwrap_or("-"));
    diagnostics.iter().map(line).collect()
}

/// One handler on `PreToolUse`, at `/hooks/PreToolUse/0/hooks/0`.
fn with_handler(handler: &str) -> String {
    format!(r#"{{"failClosed":true,"hooks":{{"PreToolUse":[{{"matcher":"Bash","hooks":[{handler}]}}]}}}}"#)
}
