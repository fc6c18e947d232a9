struct Guard;

hookbox_guest::export!(Guard);

fn main() {}
