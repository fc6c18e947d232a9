//! The bundled hooks, which configurations name as `"component": "hookbox:NAME"`.
//!
//! A component has no grants of its own: they are in the configuration that names it. [`Bundled::authority`] is what it needs, for
//! commands that write such configurations.
#![deny(missing_docs)]

use miniz_oxide::inflate::decompress_to_vec;

/// The beginning of a `component` that names a bundled hook.
pub const PREFIX: &str = "hookbox:";

/// A bundled hook.
#[derive(Debug)]
pub struct Bundled {
    /// The name behind [`PREFIX`].
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The JSON Schema of its configuration.
    pub schema: &'static str,
    /// The authority that it needs, as JSON.
    pub authority: &'static str,
    /// The events that it decides on, in Claude Code's words, each with the matcher of its group; `""`: all calls.
    pub events: &'static [(&'static str, &'static str)],
    deflated: &'static [u8],
}

/// Builds the entry of a hook from its files.
macro_rules! bundled {
    ($name:literal, $summary:literal, $authority:literal, $events:expr) => {
        Bundled {
            name: $name,
            summary: $summary,
            schema: include_str!(concat!("../hooks/", $name, ".schema.json")),
            authority: $authority,
            events: $events,
            deflated: include_bytes!(concat!("../hooks/", $name, ".wasm.deflated")),
        }
    };
}

const GATE: &[(&str, &str)] = &[("PreToolUse", ""), ("PermissionRequest", "")];

/// Every bundled hook, by name.
pub static ALL: &[Bundled] = &[
    bundled!(
        "command-guard",
        "holds back shell commands that destroy files, devices, repositories, packages, systems and services",
        r#"{ "decide": ["deny", "ask"] }"#,
        GATE
    ),
    bundled!(
        "file-guard",
        "keeps secrets from being read, and settings that decide over the machine from being written",
        r#"{ "decide": ["deny", "ask"] }"#,
        GATE
    ),
    bundled!(
        "secret-redactor",
        "takes secrets out of tool outputs and prompts before the model reads them",
        r#"{ "decide": ["deny"], "rewrite": "all", "context": true }"#,
        &[("PostToolUse", ""), ("UserPromptSubmit", "")]
    ),
];

/// The bundled hook of that name, without [`PREFIX`].
pub fn by_name(name: &str) -> Option<&'static Bundled> {
    ALL.iter().find(|bundled| bundled.name == name)
}

/// The name that a `component` has behind [`PREFIX`]; `None`: it is a path.
pub fn name_in(component: &str) -> Option<&str> {
    component.strip_prefix(PREFIX)
}

impl Bundled {
    /// The component's bytes. Empty, and so refused like any broken component, if this program is damaged.
    pub fn component(&self) -> Vec<u8> {
        decompress_to_vec(self.deflated).unwrap_or_default()
    }
}
