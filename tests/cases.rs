//! `hookbox test`: what holds is ok, what differs is shown with its place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fs, path::Path, process::Command};

use hookbox_testing::examples;
use serde_json::{Value, json};

fn test(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut hookbox = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let output = hookbox.arg("test").arg(folder).args(args).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

/// An example as its author has it, built.
fn example(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(examples::component(name), dir.path().join(format!("{name}.wasm"))).unwrap();
    for file in ["hooks.json", "case.json"] {
        fs::copy(examples::examples_dir().join(name).join(file), dir.path().join(file)).unwrap();
    }
    dir
}

fn edit(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join("case.json");
    let mut cases: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut cases);
    fs::write(path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
}

#[test]
fn cases_that_hold_are_ok() {
    let dir = example("command-guard");
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("ok      denies rm -rf\n"), "{said}");
    assert!(said.ends_with("4 cases, 0 failed\n"), "{said}");
    let (_, said) = test(dir.path(), &["--only", "mkfs"]);
    assert_eq!(said, "ok      denies mkfs under codebuddy\n1 case, 0 failed\n");
}

#[test]
fn what_differs_is_shown_and_can_be_taken_over() {
    let dir = example("command-guard");
    let good = fs::read_to_string(dir.path().join("case.json")).unwrap();
    edit(dir.path(), |cases| {
        cases[0]["expect"]["hookSpecificOutput"]["permissionDecision"] = json!("allow");
        cases[1]["fault"] = json!("no such fault");
        cases[2]["logs"] = json!(["info: nothing of the kind"]);
        cases[3]["fuel"] = json!(10);
    });
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(70), "{said}");
    for line in [
        "FAILED  denies rm -rf\n   at /hookSpecificOutput/permissionDecision\n      expected  \"allow\"\n      found     \"deny\"\n",
        "   command-guard.wasm  deny",
        "   no hook failed with `no such fault`\n",
        "   the hooks log\n      expected  [\"info: nothing of the kind\"]\n      found     []\n",
        "units of fuel, more than 10\n",
        "4 cases, 4 failed\n",
    ] {
        assert!(said.contains(line), "--- expected\n{line}\n--- said\n{said}");
    }

    fs::write(dir.path().join("case.json"), &good).unwrap();
    edit(dir.path(), |cases| cases[0]["expect"] = json!({}));
    assert_eq!(test(dir.path(), &["--update"]).0, Some(0));
    let parsed = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let updated = fs::read_to_string(dir.path().join("case.json")).unwrap();
    assert_eq!(parsed(&updated), parsed(&good));
}

/// The cases of a file are a story: each begins with what those before it left.
#[test]
fn cases_share_the_state_of_their_run_and_no_other() {
    let dir = example("rate-limit");
    for _ in 0..2 {
        let (code, said) = test(dir.path(), &[]);
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn mistakes_in_the_cases_are_told() {
    let dir = example("command-guard");
    for (text, why) in [
        ("[", "EOF while parsing"),
        ("[]", "has no cases"),
        (r#"[{"name": "x", "event": {}, "expected": {}}]"#, "unknown field `expected`"),
    ] {
        fs::write(dir.path().join("case.json"), text).unwrap();
        let (code, said) = test(dir.path(), &[]);
        assert_eq!(code, Some(64), "{said}");
        assert!(said.contains("case.json") && said.contains(why), "{said}");
    }
    let (code, said) = test(Path::new("/nothing/here"), &[]);
    assert_eq!(code, Some(70));
    assert!(said.contains("/nothing/here/case.json"), "{said}");
}
