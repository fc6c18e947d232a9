//! What every dialect must survive, whatever the bytes. The fuzz targets and `tests/total.rs` call these.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "event.rs"]
mod event;

use hookbox_protocol::{
    Answer, Dialect,
    degrade::degrade,
    dialect::{self, EventRow},
    json::parse_object,
};

/// Takes the dialect from the first byte.
fn choose(data: &[u8]) -> Option<(&'static dyn Dialect, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((dialect::ALL[usize::from(*first) % dialect::ALL.len()], rest))
}

fn rows(dialect: &dyn Dialect) -> impl Iterator<Item = &'static EventRow> {
    dialect.rows().iter().chain([dialect.other_row()])
}

/// Any bytes are an event or an error; an event survives being written and read again.
pub fn decode(data: &[u8]) {
    let Some((dialect, wire)) = choose(data) else { return };
    let names = rows(dialect).map(|row| Some(row.name)).chain([None, Some("BrandNewEvent")]);
    for name in names {
        let Ok(event) = dialect.decode_event(wire, name) else { continue };
        let written = dialect.encode_event(&event);
        let read = dialect.decode_event(written.to_string().as_bytes(), Some(&event.name));
        let read = read.unwrap_or_else(|e| panic!("{} {}: {e}\n{written}", dialect.name(), event.name));
        assert_eq!(dialect.encode_event(&read), written, "{} {}", dialect.name(), event.name);
    }
    let _ = dialect.last_resort(wire, "reason");
}

/// Any lines are answers or errors; what they merge to, the event's row can say.
pub fn merge(data: &[u8]) {
    let Some((dialect, lines)) = choose(data) else { return };
    for row in rows(dialect) {
        let (event, mut answers) = (event::event(row), Vec::new());
        let mut seen = event.clone();
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok((mut answer, _)) = parse_object(line).and_then(|wire| dialect.decode_answer(&seen, &wire)) else {
                continue;
            };
            degrade(row, &mut answer);
            dialect.rewrite(&mut seen, &answer);
            let last = dialect.stops(&seen, &answer);
            answers.push(answer);
            if last {
                break;
            }
        }
        let mut merged = dialect.merge(&event, &answers).answer;
        let said = merged.clone();
        assert!(degrade(row, &mut merged).is_empty(), "{} {} cannot say {said:?}", dialect.name(), row.name);
    }
}

/// Any answer, however a handler wrote it, is written as the dialect has it: no null, and it can be read again.
pub fn encode(data: &[u8]) {
    let Some((dialect, line)) = choose(data) else { return };
    for row in rows(dialect) {
        let event = event::event(row);
        let Ok((mut answer, _)) = parse_object(line).and_then(|wire| dialect.decode_answer(&event, &wire)) else {
            continue;
        };
        degrade(row, &mut answer);
        let merged: Answer = dialect.merge(&event, &[answer]).answer;
        let Some(written) = dialect.encode_verdict(&event, &merged) else { continue };
        let place = || format!("{} {} {written}", dialect.name(), row.name);
        let fields = written.as_object().unwrap_or_else(|| panic!("not an object: {}", place()));
        assert!(fields.values().all(|value| !value.is_null()), "{}", place());
        let read = dialect.decode_answer(&event, fields).unwrap_or_else(|e| panic!("{e}: {}", place())).0;
        assert_eq!(read.rule_kind(), again(dialect, row, &read), "{}", place());
    }
}

/// The decision after one more round.
fn again(dialect: &dyn Dialect, row: &EventRow, answer: &Answer) -> Option<hookbox_protocol::RuleKind> {
    let event = event::event(row);
    let merged = dialect.merge(&event, std::slice::from_ref(answer)).answer;
    let written = dialect.encode_verdict(&event, &merged).unwrap();
    dialect.decode_answer(&event, written.as_object().unwrap()).unwrap().0.rule_kind()
}
