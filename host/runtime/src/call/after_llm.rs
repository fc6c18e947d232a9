//! `after-llm`

use hookbox_protocol::Answer;

use super::{answer::completed, input::json};
use crate::bindings::exports::hookbox::hooks::after_llm::{Decision, Event};

interface! {
    AfterLlm(event, input) => after_llm::handle(
        response: Event = Event {
            model: input.model.clone().unwrap_or_default(),
            response: json(input.response.as_ref()),
        }
    ) -> Decision,
    (Decision { updated_response, effects }, reader) => {
        // after-llm.wit: "Members left out keep their value."
        let whole = input.response.as_ref().and_then(|r| r.as_object()).cloned().unwrap_or_default();
        let updated = completed(reader.object("updated-response", updated_response)?, whole);
        Ok(Answer { updated, ..reader.effects(effects)? })
    }
}
