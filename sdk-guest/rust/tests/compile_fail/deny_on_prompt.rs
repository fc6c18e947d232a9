use hookbox_guest::prelude::*;

struct Guard;

impl UserPromptSubmit for Guard {
    fn handle(_: &EventContext, _: &user_prompt_submit::Event) -> Result<user_prompt_submit::Output> {
        Ok(deny("no secrets"))
    }
}

fn main() {}
