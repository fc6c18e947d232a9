struct Guard;

hookbox_guest::export!(Guard: ToolUse);

fn main() {}
