//! A tool ran and succeeded. All dialects; picoclaw: `hook.after_tool`.

use crate::bindings::post_tool_use::exports::hookbox::hooks::post_tool_use as wit;
use crate::decision::{Decides, Gate};
use crate::verb::{Blocks, Rewrites};
use crate::wire::{Lower, event, input};
use crate::{Json, ToolCall};

input! {
    /// What came of the call.
    Outcome from wit::Outcome {
        /// claude, codebuddy: `tool_response`; blade: `tool_output`; blade-callback: `toolOutput`; picoclaw: `result`,
        /// an object with `for_llm`, `for_user`, `silent`, `is_error` and more.
        output: Json,
        /// picoclaw: `duration`, nanoseconds the tool ran.
        duration_ns: Option<u64>,
    }
}

impl Outcome {
    /// An outcome as a test makes it.
    pub fn new(output: impl Into<Json>) -> Self {
        Self { output: output.into(), duration_ns: None }
    }
}

/// What a hook answers about a tool that ran.
pub type Decision = crate::Decision<Outcome>;

/// What is said about the outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// `Block`: the reason is what the model is told.
    pub rule: Gate,
    /// What the model reads instead.
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
    ///     fn handle(_: &Origin, call: &ToolCall, _: &post_tool_use::Outcome) -> Result<post_tool_use::Decision> {
    ///         match call.input.str("/file_path") {
    ///             Some(path) if path.ends_with(".rs") => Ok(pass().context(format!("{path} changed; run the formatter."))),
    ///             _ => Ok(pass()),
    ///         }
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Lint: PostToolUse);
    /// ```
    PostToolUse in post_tool_use(call: ToolCall, outcome: Outcome) -> Decision
}

impl Decides for Outcome {
    type Verdict = Verdict;
}

impl Blocks for Outcome {
    fn gate(gate: Gate) -> Verdict {
        Verdict { rule: gate, output: None }
    }
}

impl Rewrites for Outcome {
    type Value = Json;

    fn rewrite(verdict: &mut Verdict, value: Json) {
        verdict.output = Some(value);
    }
}

impl Lower for Decision {
    type Wire = wit::Decision;

    fn lower(self) -> wit::Decision {
        wit::Decision {
            rule: self.verdict.rule,
            updated_output: self.verdict.output.map(Json::into_text),
            effects: self.effects.into(),
        }
    }
}
