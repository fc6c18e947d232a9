//! The user sent a prompt that the model has not seen yet. All dialects except picoclaw.

use crate::bindings::user_prompt_submit::exports::hookbox::hooks::user_prompt_submit as wit;
use crate::output::{BlockDecision, Decides};
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
    /// Creates a prompt, for tests.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

/// The decision about the prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The block decision. The user gets the reason of a `Block`.
    pub decision: BlockDecision,
    /// blade: a replacement for the text that the model sees.
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
    ///     fn handle(_: &EventContext, event: &user_prompt_submit::Event) -> Result<user_prompt_submit::Output> {
    ///         Ok(if event.prompt.contains("BEGIN PRIVATE KEY") { block("Leave the private key out.") } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Filter: UserPromptSubmit);
    /// ```
    UserPromptSubmit in user_prompt_submit(event: Event) -> Output
}

impl Decides for Event {
    type Body = Body;
}

impl Blocks for Event {
    fn gate(gate: BlockDecision) -> Body {
        Body { decision: gate, prompt: None }
    }
}

impl Rewrites for Event {
    type Value = String;

    fn rewrite(body: &mut Body, value: String) {
        body.prompt = Some(value);
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        wit::Output { decision: self.body.decision, updated_prompt: self.body.prompt, effects: self.effects.into() }
    }
}
