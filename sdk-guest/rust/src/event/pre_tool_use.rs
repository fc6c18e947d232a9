//! A tool is about to run. All dialects; picoclaw: `hook.before_tool`.

use crate::bindings::pre_tool_use::exports::hookbox::hooks::pre_tool_use as wit;
use crate::decision::{Decides, Permission};
use crate::verb::{Answers, Permits, Reroutes, Rewrites, Skips};
use crate::wire::{Lower, event};
use crate::{Json, ToolCall};

pub use wit::{Response, Rule};

/// What a hook answers about a tool that is about to run.
pub type Decision = crate::Decision<ToolCall>;

/// What is said about the call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Whether it may run.
    pub rule: Rule,
    /// The whole input the tool gets instead.
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
    ///     fn handle(_: &Origin, call: &ToolCall) -> Result<Decision> {
    ///         match call.input.str("/command") {
    ///             Some(command) if command.contains("mkfs") => Ok(deny(format!("dangerous command: {command}"))),
    ///             _ => Ok(pass()),
    ///         }
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Guard: PreToolUse);
    /// ```
    PreToolUse in pre_tool_use(call: ToolCall) -> Decision
}

impl Response {
    /// What the model reads.
    pub fn new(for_llm: impl Into<String>) -> Self {
        Self { for_llm: for_llm.into(), for_user: None, silent: false, is_error: false }
    }

    /// What the user reads, when it differs.
    #[must_use]
    pub fn for_user(mut self, text: impl Into<String>) -> Self {
        self.for_user = Some(text.into());
        self
    }

    /// Do not show it to the user.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// It is an error.
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

/// [`Rule::Pass`].
impl Default for Rule {
    fn default() -> Self {
        Self::Pass
    }
}

impl Decides for ToolCall {
    type Verdict = Verdict;
}

impl From<Rule> for Verdict {
    fn from(rule: Rule) -> Self {
        Self { rule, ..Self::default() }
    }
}

impl Permits for ToolCall {
    fn permit(permission: Permission) -> Verdict {
        Verdict::from(match permission {
            Permission::Pass => Rule::Pass,
            Permission::Allow(reason) => Rule::Allow(reason),
            Permission::Ask(reason) => Rule::Ask(reason),
            Permission::Deny(denial) => Rule::Deny(denial.message),
        })
    }

    fn explain(verdict: &mut Verdict, reason: Option<String>) {
        match &mut verdict.rule {
            Rule::Pass | Rule::Respond(_) => {}
            Rule::Allow(text) | Rule::Ask(text) | Rule::Deny(text) | Rule::Skip(text) => *text = reason,
        }
    }
}

impl Skips for ToolCall {
    fn skip(reason: Option<String>) -> Verdict {
        Verdict::from(Rule::Skip(reason))
    }
}

impl Answers for ToolCall {
    fn respond(response: Response) -> Verdict {
        Verdict::from(Rule::Respond(response))
    }
}

impl Rewrites for ToolCall {
    type Value = Json;

    fn rewrite(verdict: &mut Verdict, value: Json) {
        verdict.input = Some(value);
    }
}

impl Reroutes for ToolCall {
    fn reroute(verdict: &mut Verdict, tool: String) {
        verdict.tool = Some(tool);
    }
}

impl Lower for Decision {
    type Wire = wit::Decision;

    fn lower(self) -> wit::Decision {
        let Verdict { rule, input, tool } = self.verdict;
        wit::Decision {
            rule,
            updated_input: input.map(Json::into_text),
            updated_tool: tool,
            effects: self.effects.into(),
        }
    }
}
