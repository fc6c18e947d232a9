use hookbox_guest::prelude::*;

struct Guard;

impl Stop for Guard {
    fn handle(_: &Origin, _: &stop::Event) -> Result<stop::Decision> {
        Ok(respond("done"))
    }
}

fn main() {}
