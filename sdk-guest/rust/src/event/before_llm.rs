//! A request is about to go to the model. picoclaw: `hook.before_llm`.

use crate::Json;
use crate::bindings::before_llm::exports::hookbox::hooks::before_llm as wit;
use crate::output::Decides;
use crate::verb::Rewrites;
use crate::wire::{Lower, event, input};

input! {
    /// The request.
    Event from wit::Event {
        /// The model's name.
        model: String,
        /// Array of chat messages.
        messages: Json,
        /// Array of tool definitions; `null` if the request has none.
        tools: Json,
        /// Model parameters such as `temperature`, `max_tokens`; `null` if the request has none.
        options: Json,
        /// This is the turn's last request.
        graceful_terminal: Option<bool>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

/// The decision about the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// A replacement for the request: `model`, `messages`, `tools`, `options`. Missing members keep their value.
    pub request: Option<Json>,
}

event! {
    /// A request is about to go to the model: change it, or end the turn.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Cheaper;
    ///
    /// impl BeforeLlm for Cheaper {
    ///     fn handle(_: &EventContext, _: &before_llm::Event) -> Result<before_llm::Output> {
    ///         Ok(pass().rewrite(json!({"model": "small"})))
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Cheaper: BeforeLlm);
    /// ```
    BeforeLlm in before_llm(event: Event) -> Output
}

impl Decides for Event {
    type Body = Body;
}

impl Rewrites for Event {
    type Value = Json;

    fn rewrite(body: &mut Body, value: Json) {
        body.request = Some(value);
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        wit::Output { updated_request: self.body.request.map(Json::into_text), effects: self.effects.into() }
    }
}
