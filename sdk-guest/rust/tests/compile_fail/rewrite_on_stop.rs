use hookbox_guest::prelude::*;

struct Guard;

impl Stop for Guard {
    fn handle(_: &EventContext, _: &stop::Event) -> Result<stop::Output> {
        Ok(pass().rewrite("done"))
    }
}

fn main() {}
