//! The tables in `docs/` are generated from the code, and current. `UPDATE_DOCS=1` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fmt::Write, fs, path::Path};

use hookbox_protocol::{
    Behavior, Cause, Dialect, Event, Failure, Origin, RuleKind, ToolCall,
    degrade::{Becomes, becomes, degrade},
    dialect::{self, EventRow},
    event::Input,
    failure::settle,
};
use serde_json::json;

fn current(name: &str, text: &str) {
    let text = format!("{}\n", text.trim_end());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/{name} is not current: run `./just generate`");
}

fn documented() -> impl Iterator<Item = &'static dyn Dialect> {
    dialect::ALL.iter().copied().filter(|dialect| !dialect.name().contains('@'))
}

#[test]
fn degradation() {
    let mut text = String::from(
        "# What a dialect cannot say\n\n\
         Generated from the code (`./just generate`). One table per dialect: what a hook decides, and what the client is\n\
         told. Where a dialect has no word for a decision it says the nearest *safer* thing, and a diagnostic tells so.\n\
         `stop` ends the turn or session; `—` is nothing: the event cannot be kept from happening, so the reason is kept\n\
         as context or message where the event has a place for it.\n\n",
    );
    for dialect in documented() {
        writeln!(text, "## {}\n", dialect.name()).unwrap();
        let words: Vec<&str> = RuleKind::ALL.iter().map(|kind| kind.word()).collect();
        writeln!(text, "| event | {} |\n|---{}|", words.join(" | "), "|---".repeat(words.len())).unwrap();
        for row in dialect.rows() {
            let cells: Vec<&str> = RuleKind::ALL.iter().map(|kind| cell(row, *kind)).collect();
            writeln!(text, "| {} | {} |", row.name, cells.join(" | ")).unwrap();
            for (kind, cell) in RuleKind::ALL.iter().zip(&cells) {
                assert!(safer(*kind, cell), "{} {}: {} becomes {cell}", dialect.name(), row.name, kind.word());
            }
        }
        text.push('\n');
    }
    current("degradation.md", &text);
}

fn cell(row: &EventRow, kind: RuleKind) -> &'static str {
    match becomes(row, kind) {
        Becomes::Rule(kind) => kind.word(),
        Becomes::Halt(_) => "stop",
        Becomes::Nothing => "—",
    }
}

/// Nothing but an allow itself may come out as an allow.
fn safer(from: RuleKind, to: &str) -> bool {
    to != "allow" || from == RuleKind::Allow
}

#[test]
fn failures() {
    let causes: Vec<String> =
        Cause::ALL.iter().filter(|c| **c != Cause::Timeout).map(|c| format!("`{}`", c.word())).collect();
    let mut text = format!(
        "# What a failed hook counts as\n\n\
         Generated from the code (`./just generate`). What the client is told when the only hook of an event fails, by\n\
         behaviour: `onFailure` (`ignore`, `block`, `ask`) of the hook, or `failureBehavior` and `timeoutBehavior`\n\
         (`ignore`, `deny`, `ask`) under blade. The causes {}\n\
         count alike and follow `failureBehavior`; `timeout` follows `timeoutBehavior`. `CAUSE` stands for the cause and its\n\
         message. The behaviour a dialect starts from is in **bold**.\n\n",
        causes.join(", ")
    );
    for dialect in documented() {
        writeln!(text, "## {}\n\n| event | behaviour | the client is told |\n|---|---|---|", dialect.name()).unwrap();
        for row in dialect.rows() {
            for (behavior, word) in [(Behavior::Ignore, "ignore"), (Behavior::Deny, "deny"), (Behavior::Ask, "ask")] {
                let told = told(dialect, row, behavior);
                let word =
                    if dialect.default_behavior(row.kind) == behavior { format!("**{word}**") } else { word.into() };
                writeln!(text, "| {} | {word} | {told} |", row.name).unwrap();
            }
        }
        text.push('\n');
    }
    current("failures.md", &text);
}

/// The wire output for a failure, which must be the same for every cause.
fn told(dialect: &dyn Dialect, row: &EventRow, behavior: Behavior) -> String {
    let call = row.kind.has_tool().then(|| ToolCall::new("Bash", json!({ "command": "ls" })));
    let mut event = Event::new(dialect, Origin::default(), call, Input::empty(row.kind));
    row.name.clone_into(&mut event.name);
    let mut seen: Option<String> = None;
    for cause in Cause::ALL {
        let failure = Failure::new(*cause, "message");
        let (mut answer, _) = settle(row, "NAME", &failure, behavior);
        degrade(row, &mut answer);
        let merged = dialect.merge(&event, &[answer]);
        let wire = dialect.encode_verdict(&event, &merged.answer).map_or("nothing".into(), |wire| format!("`{wire}`"));
        let wire = wire.replace(&failure.to_string(), "CAUSE");
        assert_eq!(*seen.get_or_insert_with(|| wire.clone()), wire, "{} {} {cause:?}", dialect.name(), row.name);
        if behavior == Behavior::Deny && row.blockable {
            assert!(
                wire.contains("NAME failed (CAUSE)"),
                "{} {}: {wire} does not name hook and cause",
                dialect.name(),
                row.name
            );
        }
    }
    seen.unwrap_or_default()
}
