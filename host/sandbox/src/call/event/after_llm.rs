//! `after-llm`

use crate::{
    bindings::exports::hookbox::hooks::after_llm::{Event, Output},
    call::{input::json, output::completed},
};

interface! {
    AfterLlm(event, input) => after_llm::handle(
        response: Event = Event {
            model: input.model.as_deref().unwrap_or_default(),
            response: json(event, input.response.as_ref()),
        }
    ) -> Output,
    (Output { updated_response, effects }, reader) => {
        // after-llm.wit: "Missing members keep their value."
        let whole = input.response.iter().filter_map(|response| response.as_object()).flatten();
        let updated = completed(reader.object("updated-response", updated_response)?, whole);
        let mut output = reader.effects(effects)?;
        output.updated = updated;
        Ok(output)
    }
}
