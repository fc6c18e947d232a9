//! A configuration, edited as text: comments and order stay.

use std::path::Path;

use hookbox_protocol::json::token;
use jsonc_parser::{
    ParseOptions,
    cst::{CstObject, CstRootNode},
};
use serde_json::Value;

use crate::{clients::settings::jsonc, exit::Exit};

/// The `hooks` of a configuration.
pub struct Entries {
    root: CstRootNode,
    hooks: CstObject,
    file: String,
}

impl Entries {
    /// Reads a text.
    ///
    /// # Errors
    /// It is not JSON, or has something else than an object in its place.
    pub fn read(file: &Path, text: &str) -> anyhow::Result<Self> {
        let file = file.display().to_string();
        let wrong = |why: &str| Exit::Config.error(format!("{file}: {why}; the file was not changed"));
        let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| wrong(&error.to_string()))?;
        let object = root.object_value_or_create().ok_or_else(|| wrong("expected an object"))?;
        let hooks = object.object_value_or_create("hooks").ok_or_else(|| wrong("`hooks` is not an object"))?;
        Ok(Self { root, hooks, file })
    }

    /// Adds an element to the array of an event.
    pub fn push(&self, event: &str, value: &Value) -> anyhow::Result<()> {
        let array = self.hooks.array_value_or_create(event);
        let array = array.ok_or_else(|| self.wrong(event, "it is not an array"))?;
        array.append(jsonc::input(value));
        Ok(())
    }

    /// Adds a member.
    pub fn set(&self, name: &str, value: &Value) -> anyhow::Result<()> {
        if self.hooks.get(name).is_some() {
            return Err(self.wrong(name, "another hook has this name"));
        }
        self.hooks.append(name, jsonc::input(value));
        Ok(())
    }

    /// The text as it is now.
    pub fn text(&self) -> String {
        self.root.to_string()
    }

    fn wrong(&self, name: &str, why: &str) -> anyhow::Error {
        Exit::Config.error(format!("{}  /hooks/{}: {why}", self.file, token(name)))
    }
}
