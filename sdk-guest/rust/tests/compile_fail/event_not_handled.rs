use hookbox_guest::prelude::*;

struct Guard;

impl PreToolUse for Guard {
    fn handle(_: &Origin, _: &ToolCall) -> Result<Decision> {
        Ok(pass())
    }
}

hookbox_guest::export!(Guard: PreToolUse, Stop);

fn main() {}
