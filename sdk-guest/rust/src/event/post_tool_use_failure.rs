//! A tool ran and failed. claude, blade, blade-callback.

use crate::ToolCall;
use crate::bindings::post_tool_use_failure::exports::hookbox::hooks::post_tool_use_failure as wit;
use crate::wire::{event, input};

input! {
    /// The failure.
    Failure from wit::Failure {
        /// The error's text.
        error: String,
        /// blade.
        error_type: Option<String>,
        /// claude, blade: the user interrupted it.
        is_interrupt: Option<bool>,
        /// blade.
        is_timeout: Option<bool>,
    }
}

impl Failure {
    /// Creates a failure, for tests.
    pub fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), ..Self::default() }
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Failure>;

event! {
    /// A tool ran and failed: tell the model, or the user, something about it.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Hint;
    ///
    /// impl PostToolUseFailure for Hint {
    ///     fn handle(
    ///         _: &EventContext,
    ///         _: &ToolCall,
    ///         failure: &post_tool_use_failure::Failure,
    ///     ) -> Result<post_tool_use_failure::Output> {
    ///         Ok(if failure.error.contains("EACCES") { pass().context("The file system is read-only.") } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Hint: PostToolUseFailure);
    /// ```
    PostToolUseFailure in post_tool_use_failure(call: ToolCall, failure: Failure) -> Output
}

notice!(Failure);
