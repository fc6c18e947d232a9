//! A request is about to go to the model. picoclaw: `hook.before_llm`.

use crate::Json;
use crate::bindings::before_llm::exports::hookbox::hooks::before_llm as wit;
use crate::decision::Decides;
use crate::verb::Rewrites;
use crate::wire::{Lower, event, input};

input! {
    /// The request.
    Event from wit::Event {
        /// The model's name.
        model: String,
        /// Array of chat messages.
        messages: Json,
        /// Array of tool definitions; `null` when there are none.
        tools: Json,
        /// Model parameters such as `temperature`, `max_tokens`; `null` when there are none.
        options: Json,
        /// This is the turn's last request.
        graceful_terminal: Option<bool>,
    }
}

/// What a hook answers about a request.
pub type Decision = crate::Decision<Event>;

/// What is said about the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The request instead: `model`, `messages`, `tools`, `options`. Members left out keep their value.
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
    ///     fn handle(_: &Origin, _: &before_llm::Event) -> Result<before_llm::Decision> {
    ///         Ok(pass().rewrite(json!({"model": "small"})))
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Cheaper: BeforeLlm);
    /// ```
    BeforeLlm in before_llm(event: Event) -> Decision
}

impl Decides for Event {
    type Verdict = Verdict;
}

impl Rewrites for Event {
    type Value = Json;

    fn rewrite(verdict: &mut Verdict, value: Json) {
        verdict.request = Some(value);
    }
}

impl Lower for Decision {
    type Wire = wit::Decision;

    fn lower(self) -> wit::Decision {
        wit::Decision { updated_request: self.verdict.request.map(Json::into_text), effects: self.effects.into() }
    }
}
