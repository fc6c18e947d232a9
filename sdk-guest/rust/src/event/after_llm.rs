//! The model answered. picoclaw: `hook.after_llm`.

use crate::Json;
use crate::bindings::after_llm::exports::hookbox::hooks::after_llm as wit;
use crate::output::Decides;
use crate::verb::Rewrites;
use crate::wire::{Lower, event, input};

input! {
    /// The model's answer.
    Event from wit::Event {
        /// The model's name.
        model: String,
        /// The answer: `content`, `tool_calls`, `finish_reason`, `usage`, …
        response: Json,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

/// The decision about the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// A replacement for the response. Missing members keep their value.
    pub response: Option<Json>,
}

event! {
    /// The model answered: change the answer, or end the turn.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Polite;
    ///
    /// impl AfterLlm for Polite {
    ///     fn handle(_: &EventContext, event: &after_llm::Event) -> Result<after_llm::Output> {
    ///         let content = event.response.str("/content").unwrap_or_default();
    ///         Ok(pass().rewrite(json!({"content": content.replace("damn", "dear")})))
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Polite: AfterLlm);
    /// ```
    AfterLlm in after_llm(event: Event) -> Output
}

impl Decides for Event {
    type Body = Body;
}

impl Rewrites for Event {
    type Value = Json;

    fn rewrite(body: &mut Body, value: Json) {
        body.response = Some(value);
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        wit::Output { updated_response: self.body.response.map(Json::into_text), effects: self.effects.into() }
    }
}
