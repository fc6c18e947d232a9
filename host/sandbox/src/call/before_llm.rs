//! `before-llm`

use hookbox_protocol::{HookOutput, event::BeforeLlm, json::Object};

use super::{input::json, output::completed};
use crate::bindings::exports::hookbox::hooks::before_llm::{Event, Output};

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
        let updated = completed(reader.object("updated-request", updated_request)?, whole(input));
        Ok(HookOutput { updated, ..reader.effects(effects)? })
    }
}

/// before-llm.wit: "Members left out keep their value."
fn whole(input: &BeforeLlm) -> Object {
    let members = [
        ("model", input.model.clone().map(Into::into)),
        ("messages", input.messages.clone()),
        ("tools", input.tools.clone()),
        ("options", input.options.clone()),
    ];
    members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
