use hookbox_guest::prelude::*;

struct Guard;

impl UserPromptSubmit for Guard {
    fn handle(_: &Origin, _: &user_prompt_submit::Event) -> Result<user_prompt_submit::Decision> {
        Ok(deny("no secrets"))
    }
}

fn main() {}
