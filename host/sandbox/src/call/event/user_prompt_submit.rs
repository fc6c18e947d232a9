//! `user-prompt-submit`

use crate::bindings::exports::hookbox::hooks::user_prompt_submit::{Event, Output};

interface! {
    UserPromptSubmit(event, input) => user_prompt_submit::handle(
        prompt: Event = Event {
            prompt: input.prompt.as_deref().unwrap_or_default(),
            has_images: input.has_images,
            image_count: input.image_count,
        }
    ) -> Output,
    (Output { decision, updated_prompt, effects }, reader) => {
        let updated = reader.optional(updated_prompt)?.map(Into::into);
        let mut output = reader.gate(decision, effects)?;
        output.updated = updated;
        Ok(output)
    }
}
