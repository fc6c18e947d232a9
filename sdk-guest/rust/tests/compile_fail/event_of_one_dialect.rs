struct Guard;

hookbox_guest::export!(Guard: BeforeTool);

fn main() {}
