//! A tool about to run, or that ran.

use crate::Json;
use crate::bindings::shared::hookbox::hooks::types as wit;
use crate::wire::input;

input! {
    /// A tool about to run, or that ran.
    ToolCall from wit::ToolCall {
        /// For example `Bash`, `mcp__server__action`; under picoclaw for example `exec`.
        name: String,
        /// The tool's arguments. `null` if the dialect does not send them.
        input: Json,
        /// claude, codebuddy, blade: identifies the call in all its events.
        use_id: Option<String>,
        /// The arguments before an earlier hook rewrote them, if the dialect knows them.
        original_input: Option<Json>,
    }
}

impl ToolCall {
    /// Creates a call, for tests.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// let call = ToolCall::new("Bash", json!({"command": "ls"}));
    /// assert_eq!(call.input.str("/command"), Some("ls"));
    /// ```
    pub fn new(name: impl Into<String>, input: impl Into<Json>) -> Self {
        Self { name: name.into(), input: input.into(), use_id: None, original_input: None }
    }
}
