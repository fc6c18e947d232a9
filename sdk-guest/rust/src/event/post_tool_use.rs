//! A tool ran and succeeded. All dialects; picoclaw: `hook.after_tool`.

use crate::bindings::post_tool_use::exports::hookbox::hooks::post_tool_use as wit;
use crate::output::{BlockDecision, Decides};
use crate::verb::{Blocks, Rewrites};
use crate::wire::{Lower, event, input};
use crate::{Json, ToolCall};

input! {
    /// The output of the tool.
    ToolOutput from wit::ToolOutput {
        /// claude, codebuddy: `tool_response`; blade: `tool_output`; blade-callback: `toolOutput`; picoclaw: `result`,
        /// an object with `for_llm`, `for_user`, `silent`, `is_error` and more.
        value: Json,
        /// picoclaw: `duration`, nanoseconds the tool ran.
        duration_ns: Option<u64>,
    }
}

impl ToolOutput {
    /// Creates an output, for tests.
    pub fn new(value: impl Into<Json>) -> Self {
        Self { value: value.into(), duration_ns: None }
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<ToolOutput>;

/// The decision about the tool's output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The block decision. The model gets the reason of a `Block`.
    pub decision: BlockDecision,
    /// A replacement for the output that the model reads.
    pub output: Option<Json>,
}

event! {
    /// A tool ran and succeeded: change what the model reads, add to it, or object.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Lint;
    ///
    /// impl PostToolUse for Lint {
    ///     fn handle(_: &EventContext, call: &ToolCall, _: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
    ///         match call.input.str("/file_path") {
    ///             Some(path) if path.ends_with(".rs") => Ok(pass().context(format!("{path} changed; run the formatter."))),
    ///             _ => Ok(pass()),
    ///         }
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Lint: PostToolUse);
    /// ```
    PostToolUse in post_tool_use(call: ToolCall, output: ToolOutput) -> Output
}

impl Decides for ToolOutput {
    type Body = Body;
}

impl Blocks for ToolOutput {
    fn gate(gate: BlockDecision) -> Body {
        Body { decision: gate, output: None }
    }
}

impl Rewrites for ToolOutput {
    type Value = Json;

    fn rewrite(body: &mut Body, value: Json) {
        body.output = Some(value);
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        wit::Output {
            decision: self.body.decision,
            updated_output: self.body.output.map(Json::into_text),
            effects: self.effects.into(),
        }
    }
}
