//! The user sent a prompt that the model has not seen yet. All but picoclaw.

use crate::bindings::user_prompt_submit::exports::hookbox::hooks::user_prompt_submit as wit;
use crate::decision::{Decides, Gate};
use crate::verb::{Blocks, Rewrites};
use crate::wire::{Lower, event, input};

input! {
    /// The prompt.
    Event from wit::Event {
        /// blade: `user_prompt`; blade-callback: `message`.
        prompt: String,
        /// blade.
        has_images: Option<bool>,
        /// blade.
        image_count: Option<u32>,
    }
}

impl Event {
    /// A prompt as a test makes it.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }
}

/// What a hook answers about a prompt.
pub type Decision = crate::Decision<Event>;

/// What is said about the prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// `Block`: the reason is what the user is told.
    pub rule: Gate,
    /// blade: the text the model sees instead.
    pub prompt: Option<String>,
}

event! {
    /// The user sent a prompt: block it, add context, or (blade) rewrite it.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Filter;
    ///
    /// impl UserPromptSubmit for Filter {
    ///     fn handle(_: &Origin, event: &user_prompt_submit::Event) -> Result<user_prompt_submit::Decision> {
    ///         Ok(if event.prompt.contains("BEGIN PRIVATE KEY") { block("Leave the private key out.") } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Filter: UserPromptSubmit);
    /// ```
    UserPromptSubmit in user_prompt_submit(event: Event) -> Decision
}

impl Decides for Event {
    type Verdict = Verdict;
}

impl Blocks for Event {
    fn gate(gate: Gate) -> Verdict {
        Verdict { rule: gate, prompt: None }
    }
}

impl Rewrites for Event {
    type Value = String;

    fn rewrite(verdict: &mut Verdict, value: String) {
        verdict.prompt = Some(value);
    }
}

impl Lower for Decision {
    type Wire = wit::Decision;

    fn lower(self) -> wit::Decision {
        wit::Decision { rule: self.verdict.rule, updated_prompt: self.verdict.prompt, effects: self.effects.into() }
    }
}
