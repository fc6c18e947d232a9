//! A tool is about to run. All dialects; picoclaw: `hook.before_tool`.

use crate::bindings::pre_tool_use::exports::hookbox::hooks::pre_tool_use as wit;
use crate::output::{Decides, PermissionDecision};
use crate::verb::{Permits, Reroutes, Responds, Rewrites, Skips};
use crate::wire::{Lower, event};
use crate::{Json, ToolCall};

pub use wit::{Decision, Response};

/// The output of a hook for this event.
pub type Output = crate::Output<ToolCall>;

/// The decision about the call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The permission decision.
    pub decision: Decision,
    /// A replacement for the whole input of the tool.
    pub input: Option<Json>,
    /// picoclaw: another tool to run instead.
    pub tool: Option<String>,
}

event! {
    /// A tool is about to run: let it, stop it, ask, change its input, or answer in its place.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Guard;
    ///
    /// impl PreToolUse for Guard {
    ///     fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
    ///         match call.input.str("/command") {
    ///             Some(command) if command.contains("mkfs") => Ok(deny(format!("dangerous command: {command}"))),
    ///             _ => Ok(pass()),
    ///         }
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Guard: PreToolUse);
    /// ```
    PreToolUse in pre_tool_use(call: ToolCall) -> Output
}

impl Response {
    /// Creates a response with the text that the model reads.
    pub fn new(for_llm: impl Into<String>) -> Self {
        Self { for_llm: for_llm.into(), for_user: None, silent: false, is_error: false, extra: None }
    }

    /// Sets the text that the user reads, if it differs.
    #[must_use]
    pub fn for_user(mut self, text: impl Into<String>) -> Self {
        self.for_user = Some(text.into());
        self
    }

    /// Hides the response from the user.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Adds further fields of the dialect's own result as an object, such as picoclaw's `media`.
    #[must_use]
    pub fn extra(mut self, object: impl Into<Json>) -> Self {
        self.extra = Some(object.into().into_text());
        self
    }

    /// Marks the response as an error.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }
}

impl From<&str> for Response {
    fn from(for_llm: &str) -> Self {
        Self::new(for_llm)
    }
}

impl From<String> for Response {
    fn from(for_llm: String) -> Self {
        Self::new(for_llm)
    }
}

/// [`Decision::Pass`].
impl Default for Decision {
    fn default() -> Self {
        Self::Pass
    }
}

impl Decides for ToolCall {
    type Body = Body;
}

impl From<Decision> for Body {
    fn from(decision: Decision) -> Self {
        Self { decision, ..Self::default() }
    }
}

impl Permits for ToolCall {
    fn permit(permission: PermissionDecision) -> Body {
        Body::from(match permission {
            PermissionDecision::Pass => Decision::Pass,
            PermissionDecision::Allow(reason) => Decision::Allow(reason),
            PermissionDecision::Ask(reason) => Decision::Ask(reason),
            PermissionDecision::Deny(denial) => Decision::Deny(denial.message),
        })
    }

    fn explain(body: &mut Body, reason: Option<String>) {
        match &mut body.decision {
            Decision::Pass | Decision::Respond(_) => {}
            Decision::Allow(text) | Decision::Ask(text) | Decision::Deny(text) | Decision::Skip(text) => *text = reason,
        }
    }
}

impl Skips for ToolCall {
    fn skip(reason: Option<String>) -> Body {
        Body::from(Decision::Skip(reason))
    }
}

impl Responds for ToolCall {
    fn respond(response: Response) -> Body {
        Body::from(Decision::Respond(response))
    }
}

impl Rewrites for ToolCall {
    type Value = Json;

    fn rewrite(body: &mut Body, value: Json) {
        body.input = Some(value);
    }
}

impl Reroutes for ToolCall {
    fn reroute(body: &mut Body, tool: String) {
        body.tool = Some(tool);
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        let Body { decision, input, tool } = self.body;
        wit::Output {
            decision,
            updated_input: input.map(Json::into_text),
            updated_tool: tool,
            effects: self.effects.into(),
        }
    }
}
