//! Every dialect returns a value or an error for any bytes. These are the checks of the fuzz targets, with fewer inputs.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_testing::fuzzing;
use std::{path::Path, sync::LazyLock};

use hookbox_protocol::dialect;
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

/// Every key and word that a dialect knows, so that random JSON passes the first check.
fn words() -> Vec<String> {
    let specs = dialect::ALL.iter().flat_map(|d| d.specs().iter().chain([d.other_spec()]));
    let of_rows =
        specs.flat_map(|spec| spec.required.iter().chain([&spec.name]).chain(spec.names.iter().map(|(wire, _)| wire)));
    let of_answers = dialect::ALL.iter().flat_map(|d| d.known_keys());
    let values = [
        "allow",
        "ask",
        "deny",
        "defer",
        "block",
        "approve",
        "continue",
        "skip",
        "abort",
        "modify",
        "respond",
        "deny_tool",
        "abort_turn",
        "hard_abort",
        "x",
        "1",
    ];
    let keys = [
        "hook_event_name",
        "event",
        "hookSpecificOutput",
        "action",
        "approved",
        "jsonrpc",
        "2.0",
        "id",
        "method",
        "params",
        "meta",
        "Kind",
        "Payload",
        "context",
        "call",
        "request",
        "response",
        "result",
        "tool",
        "arguments",
        "model",
        "messages",
        "behavior",
        "session_id",
        "agent_id",
        "iteration",
        "for_llm",
        "modifiedInput",
        "modifiedOutput",
    ];
    let mut all: Vec<String> = of_rows.chain(of_answers).chain(&values).chain(&keys).map(|w| (*w).to_owned()).collect();
    all.sort();
    all.dedup();
    all
}

fn wire() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(words()).prop_map(Value::String),
        select(vec![
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(u64::MAX),
            json!("")
        ]),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            4 => vec((select(words()), inner.clone()), 0..8).prop_map(|fields| fields.into_iter().collect()),
            1 => vec(inner, 0..3).prop_map(Value::Array),
        ]
    })
}

/// Runs the check on the bytes for each dialect.
fn everywhere(bytes: &[u8], check: fn(&[u8])) {
    for dialect in 0..dialect::ALL.len() {
        let first = u8::try_from(dialect).unwrap();
        check(&[&[first], bytes].concat());
    }
}

/// Lines that were recorded from real clients.
static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
    let (mut folders, mut found) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(std::fs::read(path).unwrap());
            }
        }
    }
    assert!(found.len() > 100, "{} samples", found.len());
    found
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_are_an_event_or_an_error(bytes in vec(any::<u8>(), 0..64)) {
        everywhere(&bytes, fuzzing::decode);
    }

    #[test]
    fn json_is_an_event_or_an_error(wire in wire()) {
        everywhere(wire.to_string().as_bytes(), fuzzing::decode);
    }

    #[test]
    fn json_lines_are_answers_or_errors(lines in vec(wire(), 0..4)) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        everywhere(lines.join("\n").as_bytes(), fuzzing::merge);
    }

    #[test]
    fn encoded_outputs_decode_again(wire in wire()) {
        everywhere(wire.to_string().as_bytes(), |data| _ = fuzzing::encode(data));
    }

    #[test]
    fn a_broken_sample_is_an_event_or_an_error(which: prop::sample::Index, at: prop::sample::Index, byte: u8, cut: bool) {
        let mut sample = which.get(&SAMPLES).clone();
        let at = at.index(sample.len());
        sample[at] = byte;
        sample.truncate(if cut { at + 1 } else { sample.len() });
        everywhere(&sample, fuzzing::decode);
    }
}

/// Verifies that the checks reach the encoders, because a check without inputs always passes.
#[test]
fn every_dialect_writes_answers() {
    for (at, dialect) in dialect::ALL.iter().enumerate() {
        let first = u8::try_from(at).unwrap();
        let answers =
            ["{}", r#"{"decision":"block","reason":"r"}"#, r#"{"action":"continue"}"#, r#"{"approved":false}"#];
        let written: usize = answers.iter().map(|line| fuzzing::encode(&[&[first], line.as_bytes()].concat())).sum();
        // opencode and gemini have no answer on most events.
        assert!(written >= dialect.specs().len(), "{}: {written}", dialect.name());
    }
}
