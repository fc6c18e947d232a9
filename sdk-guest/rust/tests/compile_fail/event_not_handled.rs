use hookbox_guest::prelude::*;

struct Guard;

impl PreToolUse for Guard {
    fn handle(_: &EventContext, _: &ToolCall) -> Result<Output> {
        Ok(pass())
    }
}

hookbox_guest::export!(Guard: PreToolUse, Stop);

fn main() {}
