//! `user-prompt-submit`

use hookbox_protocol::Answer;

use crate::bindings::exports::hookbox::hooks::user_prompt_submit::{Decision, Event};

interface! {
    UserPromptSubmit(event, input) => user_prompt_submit::handle(
        prompt: Event = Event {
            prompt: input.prompt.clone().unwrap_or_default(),
            has_images: input.has_images,
            image_count: input.image_count,
        }
    ) -> Decision,
    (Decision { rule, updated_prompt, effects }, reader) => {
        let updated = reader.optional(updated_prompt)?.map(Into::into);
        Ok(Answer { updated, ..reader.gate(rule, effects)? })
    }
}
