//! Chained records: any change of them is found, also by a person who has only the files and a signed head.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
    thread,
};

use hookbox_registry::SigningKey;
use hookbox_testing::{guest, process::fed};
use serde_json::{Value, json};

/// A folder with a gate, its records and the auditor's key.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("gate.wasm"), guest::encode(&guest::gate("", ""), guest::GATE, "")).unwrap();
        let config = json!({ "failClosed": true, "hooks": { "PreToolUse": [{ "hooks": [{ "type": "wasm", "component": "gate.wasm" }] }] } });
        fs::write(folder.path("hooks.json"), config.to_string()).unwrap();
        let (key, text) = SigningKey::generate().unwrap();
        fs::write(folder.path("records.key"), text).unwrap();
        fs::write(folder.path("records.pub"), key.public().to_pem()).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(args).current_dir(self.0.path()).env("XDG_STATE_HOME", self.0.path());
        command
    }

    fn event(number: usize) -> String {
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "n": number } }).to_string()
    }

    fn run(&self, number: usize, more: &[&str]) {
        let args =
            [&["run", "--config", "hooks.json", "--record", "records.jsonl", "--diagnostics", "off"], more].concat();
        let output = fed(&mut self.command(&args), Self::event(number).as_bytes());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }

    fn verify(&self, more: &[&str]) -> Output {
        self.command(&[&["records", "verify"], more].concat()).output().unwrap()
    }

    #[track_caller]
    fn whole(&self, more: &[&str]) -> String {
        let output = self.verify(more);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn damaged(&self, more: &[&str], words: &str) {
        let output = self.verify(more);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(words), "{words}: {:?}", self.verify(more));
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.path("records.jsonl")).unwrap().lines().map(str::to_owned).collect()
    }

    fn write(&self, name: &str, lines: &[String]) {
        fs::write(self.path(name), lines.join("\n") + "\n").unwrap();
    }

    fn head(&self) {
        let output = self.command(&["records", "head", "records.jsonl", "--key", "records.key"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut heads = fs::read(self.path("heads.jsonl")).unwrap_or_default();
        heads.extend(output.stdout);
        fs::write(self.path("heads.jsonl"), heads).unwrap();
    }
}

const HEADS: [&str; 4] = ["--heads", "heads.jsonl", "--key", "records.pub"];

#[test]
fn changed_records_are_found() {
    let folder = Folder::new();
    // One option begins the chain. Runs at once, and without the option, go on with it.
    folder.run(0, &["--chain"]);
    thread::scope(|scope| {
        for number in 1..6 {
            let folder = &folder;
            scope.spawn(move || folder.run(number, if number % 2 == 0 { &["--chain"] } else { &[] }));
        }
    });
    folder.head();
    assert!(folder.whole(&["records.jsonl"]).contains("6 records, 0 signed heads: whole"));
    assert!(folder.whole(&[&["records.jsonl"], &HEADS[..]].concat()).contains("6 records, 1 signed heads: whole"));
    // A reader of records that knows nothing of chains reads them.
    let lines = folder.lines();
    assert!(lines.iter().all(|line| serde_json::from_str::<hookbox::Record>(line).is_ok()), "{lines:?}");

    let mut changed = lines.clone();
    changed[2] = changed[2].replace(r#""verdict":"nothing""#, r#""verdict":"allow""#);
    assert_ne!(changed, lines);
    let mut missing = lines.clone();
    missing.remove(3);
    let mut moved = lines.clone();
    moved.swap(1, 4);
    let mut added = lines.clone();
    added.insert(2, r#"{"version":1,"verdict":"allow"}"#.into());
    for (lines, words) in [
        (&changed[..], "records.jsonl:4: record 3 was changed after it was written"),
        (&missing, "records.jsonl:4: record 4 is missing before it"),
        (&moved, "is behind record"),
        (&added, "records.jsonl:3: not part of the chain"),
        (&lines[1..], "records.jsonl:1: record 1 is missing before it"),
    ] {
        folder.write("records.jsonl", lines);
        folder.damaged(&["records.jsonl"], words);
    }
    // The end is found missing only by the head.
    folder.write("records.jsonl", &lines[..4]);
    folder.whole(&["records.jsonl"]);
    folder.damaged(&[&["records.jsonl"], &HEADS[..]].concat(), "at its end: records 5 to 6 are missing");
}

#[test]
fn rotated_files_are_one_chain_and_heads_stand_for_archived_ones() {
    let folder = Folder::new();
    (0..3).for_each(|number| folder.run(number, &["--chain"]));
    folder.head();
    let old = folder.lines();
    (3..5).for_each(|number| folder.run(number, &[]));
    folder.head();
    let all = folder.lines();
    folder.write("old.jsonl", &old);
    folder.write("new.jsonl", &all[3..]);
    folder.whole(&[&["old.jsonl", "new.jsonl"], &HEADS[..]].concat());
    folder.damaged(&["new.jsonl", "old.jsonl"], "is behind record");
    folder.damaged(&["new.jsonl"], "records 1 to 3 are missing");
    folder.whole(&[&["new.jsonl"], &HEADS[..]].concat());
    // A rewritten chain ends in another line than the signed one.
    fs::remove_file(folder.path("records.jsonl")).unwrap();
    (10..15).for_each(|number| folder.run(number, &["--chain"]));
    folder.whole(&["records.jsonl"]);
    folder.damaged(&[&["records.jsonl"], &HEADS[..]].concat(), "is not the one of the signed head");
}

#[test]
fn heads_of_other_keys_and_changed_heads_are_refused() {
    let folder = Folder::new();
    folder.run(0, &["--chain"]);
    folder.head();
    let verify = |folder: &Folder| folder.verify(&[&["records.jsonl"], &HEADS[..]].concat()).status.code();
    assert_eq!(verify(&folder), Some(0));
    let head = fs::read_to_string(folder.path("heads.jsonl")).unwrap();
    let mut changed: Value = serde_json::from_str(&head).unwrap();
    changed["payload"] = "e30=".into();
    for text in [changed.to_string(), "{}".into(), "head".into()] {
        fs::write(folder.path("heads.jsonl"), text).unwrap();
        assert_eq!(verify(&folder), Some(84));
    }
    fs::write(folder.path("heads.jsonl"), head).unwrap();
    fs::write(folder.path("records.pub"), SigningKey::generate().unwrap().0.public().to_pem()).unwrap();
    assert_eq!(verify(&folder), Some(84));
}

#[test]
fn a_truncated_line_is_reported_and_the_chain_continues() {
    let folder = Folder::new();
    (0..2).for_each(|number| folder.run(number, &["--chain"]));
    let mut text = fs::read(folder.path("records.jsonl")).unwrap();
    text.truncate(text.len() - 40);
    fs::write(folder.path("records.jsonl"), text).unwrap();
    (2..4).for_each(|number| folder.run(number, &[]));
    let output = folder.verify(&["records.jsonl"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told.lines().count(), 2, "{told}");
    assert!(told.contains("records.jsonl:2: not a whole record") && told.contains("4 records"), "{told}");
}

#[test]
fn records_show_the_decision_on_an_event() {
    let folder = Folder::new();
    (0..3).for_each(|number| folder.run(number, &["--chain"]));
    fs::write(folder.path("event.json"), Folder::event(1)).unwrap();
    let told = folder.whole(&["records.jsonl", "--event", "event.json"]);
    let digest = hookbox::sha256(fs::read(folder.path("gate.wasm")).unwrap());
    assert!(told.contains("records.jsonl:2: nothing"), "{told}");
    assert!(told.contains(&format!("component sha256:{digest}, publisher unknown")), "{told}");
    assert!(!told.contains("records.jsonl:1"), "{told}");
}
