//! `before-llm`

use serde_json::Value;

use crate::{
    bindings::exports::hookbox::hooks::before_llm::{Event, Output},
    call::{input::json, output::completed},
};

interface! {
    BeforeLlm(event, input) => before_llm::handle(
        request: Event = Event {
            model: input.model.as_deref().unwrap_or_default(),
            messages: json(event, input.messages.as_ref()),
            tools: json(event, input.tools.as_ref()),
            options: json(event, input.options.as_ref()),
            graceful_terminal: input.graceful_terminal,
        }
    ) -> Output,
    (Output { updated_request, effects }, reader) => {
        // before-llm.wit: "Missing members keep their value."
        let model = input.model.clone().map(Value::from);
        let whole = [
            ("model", model.as_ref()),
            ("messages", input.messages.as_deref()),
            ("tools", input.tools.as_deref()),
            ("options", input.options.as_deref()),
        ];
        let whole = whole.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let updated = completed(reader.object("updated-request", updated_request)?, whole);
        let mut output = reader.effects(effects)?;
        output.updated = updated;
        Ok(output)
    }
}
