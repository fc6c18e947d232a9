//! Output of commands for people and for programs: marked lines, colours, JSON, and topics of the help.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Output},
};

use hookbox_testing::{examples, guest, process::fed};
use serde_json::{Value, json};

const RM: &str =
    r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
const MISTAKES: &str = r#"{
  "dialect": "claude",
  "hooks": {
    "PreToolUse": [
      { "mathcer": "Bash", "hooks": [ { "type": "command", "command": "true", "timeout": "2" } ] }
    ]
  }
}
"#;

fn hookbox(dir: &Path, variables: &[(&str, &str)], args: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(args).current_dir(dir).env("HOME", dir).env("XDG_STATE_HOME", dir.join("state"));
    command.env("XDG_CACHE_HOME", dir.join("cache"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    fed(command.envs(variables.iter().copied()), stdin.as_bytes())
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs a command that prints JSON. Returns its exit code and the value.
fn asked(dir: &Path, args: &[&str], stdin: &str) -> (i32, Value) {
    let output = hookbox(dir, &[], args, stdin);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), serde_json::from_str(&text).unwrap())
}

/// A folder with the command guard, its configuration and two cases, one of which fails.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(examples::component("command-guard"), dir.path().join("guard.wasm")).unwrap();
    let handler = json!({ "type": "wasm", "component": "guard.wasm" });
    let config =
        json!({ "dialect": "claude", "failClosed": true, "hooks": { "PreToolUse": [{ "hooks": [handler] }] } });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    fs::write(dir.path().join("event.json"), RM).unwrap();
    fs::create_dir(dir.path().join("tests")).unwrap();
    let case =
        |name: &str, expected: &str| format!("- name: {name}\n  event: {RM}\n  expect:\n    decision: {expected}\n");
    fs::write(dir.path().join("tests/cases.yaml"), case("denies", "deny") + &case("allows", "allow")).unwrap();
    dir
}

#[test]
fn a_mistake_is_shown_in_its_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hooks.json"), MISTAKES).unwrap();
    let output = hookbox(dir.path(), &[], &["check", "hooks.json"], "");
    let text = stdout(&output);
    let expected = "\
error: unknown key `mathcer`
   hooks.json  /hooks/PreToolUse/0/mathcer   (line 5)
   5 |       { \"mathcer\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"true\", \"timeout\": \"2\" } ] }
     |         ^^^^^^^^^
   did you mean `matcher`?
";
    assert!(text.starts_with(expected), "{text}");
    let timeout = text.lines().find(|line| line.trim_end().ends_with("^^^") && !line.contains("^^^^")).expect(&text);
    let line = MISTAKES.lines().nth(4).unwrap();
    assert_eq!(timeout.find('^').unwrap() - "   5 | ".len(), line.find("\"2\"").unwrap(), "{text}");
    assert!(!text.contains('\u{1b}'), "colours only on terminals: {text}");

    fs::write(dir.path().join("hooks.json"), "{\n  \"hooks\": [,]\n}\n").unwrap();
    let text = stdout(&hookbox(dir.path(), &[], &["check", "hooks.json"], ""));
    assert!(text.contains("   2 |   \"hooks\": [,]\n     |             ^\n"), "{text}");

    // The client may pass stderr of `run` to the model, so it has no line of the file.
    let output = hookbox(dir.path(), &[], &["run", "--config", "hooks.json"], RM);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("(line 2)") && !text.contains('^'), "{text}");
}

#[test]
fn a_line_forges_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hooks.json"), "{ \"zork\u{202e}\u{9b}2J\": 1, \"hooks\": {} }").unwrap();
    let text = stdout(&hookbox(dir.path(), &[("CLICOLOR_FORCE", "1")], &["check", "hooks.json"], ""));
    assert!(text.contains("^^^") && !text.contains(['\u{202e}', '\u{9b}']), "{text:?}");
}

#[test]
fn colours_follow_the_usual_variables() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hooks.json"), MISTAKES).unwrap();
    let coloured = |variables: &[(&str, &str)]| {
        let output = hookbox(dir.path(), variables, &["check", "hooks.json"], "");
        stdout(&output).contains("\u{1b}[")
    };
    assert!(!coloured(&[]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&[("CLICOLOR", "1")]), "stdout is not a terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")]), "an empty NO_COLOR has no effect");
}

#[test]
fn check_lists_its_findings_as_json() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hooks.json"), MISTAKES).unwrap();
    let (code, found) = asked(dir.path(), &["check", "--json", "hooks.json"], "");
    assert_eq!((code, &found["errors"], &found["warnings"]), (78, &json!(2), &json!(0)), "{found}");
    let first = &found["diagnostics"][0];
    let part = json!([first["severity"], first["pointer"], first["line"], first["column"], first["help"]]);
    assert_eq!(part, json!(["error", "/hooks/PreToolUse/0/mathcer", 5, 9, "did you mean `matcher`?"]));
    let dir = project();
    let (code, found) = asked(dir.path(), &["check", "--json", "--config", "hooks.json"], "");
    assert_eq!((code, &found["errors"]), (0, &json!(0)), "{found}");
}

#[test]
fn errors_are_json_too() {
    let dir = tempfile::tempdir().unwrap();
    for args in
        [&["explain", "--json"][..], &["test", "--json"], &["check", "--json"], &["records", "verify", "--json", "x"]]
    {
        let output = hookbox(dir.path(), &[], args, "{}");
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).expect(&text);
        assert!(last["message"].is_string() && output.stdout.is_empty(), "{args:?}: {text}");
    }
}

#[test]
fn explain_and_test_print_json() {
    let dir = project();
    let (code, said) = asked(dir.path(), &["explain", "--json", "--config", "hooks.json", "--input", "event.json"], "");
    assert_eq!((code, &said["verdict"], &said["event"]), (0, &json!("deny"), &json!("PreToolUse")), "{said}");
    assert_eq!(said["hooks"][0]["verdict"], "deny", "{said}");
    assert_eq!(said["output"]["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
    assert!(said["clause"].as_str().unwrap().contains(".md#"), "{said}");

    let (code, told) = asked(dir.path(), &["test", "--json"], "");
    assert_eq!((code, &told["total"], &told["failed"]), (1, &json!(2), &json!(1)), "{told}");
    let passed: Vec<&Value> = told["cases"].as_array().unwrap().iter().map(|case| &case["passed"]).collect();
    assert_eq!(passed, [true, false]);
    let case = &told["cases"][1];
    assert!(case["place"].as_str().unwrap().ends_with("cases.yaml:5"), "{case}");
    assert!(case["differences"].to_string().contains("expected"), "{case}");
}

#[test]
fn inspect_cache_and_records_print_json() {
    let dir = project();
    let (code, found) = asked(dir.path(), &["inspect", "--json", "guard.wasm", "--input", "event.json"], "");
    let component = &found["components"][0];
    assert_eq!((code, &component["handles"]), (0, &json!(["PreToolUse", "PermissionRequest"])), "{found}");
    assert!(component["digest"].as_str().unwrap().starts_with("sha256:") && component["advised"]["fuel"].is_u64());

    let (code, found) = asked(dir.path(), &["cache", "--json"], "");
    assert_eq!((code, &found["components"]), (0, &json!([])), "{found}");
    assert!(found["compiled"]["files"].as_u64() >= Some(1), "{found}");

    for _ in 0..2 {
        hookbox(dir.path(), &[], &["run", "--config", "hooks.json", "--record", "r.jsonl", "--chain"], RM);
    }
    let (code, found) = asked(dir.path(), &["records", "verify", "--json", "r.jsonl", "--event", "event.json"], "");
    assert_eq!((code, &found["records"], &found["whole"]), (0, &json!(2), &json!(true)), "{found}");
    assert_eq!(found["event"]["records"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(found["event"]["records"][0]["hooks"][0]["verdict"], "deny", "{found}");
    let text = fs::read_to_string(dir.path().join("r.jsonl")).unwrap();
    fs::write(dir.path().join("r.jsonl"), text.lines().nth(1).unwrap().to_owned() + "\n").unwrap();
    let (code, found) = asked(dir.path(), &["records", "verify", "--json", "r.jsonl"], "");
    assert_eq!((code, &found["whole"], &found["findings"][0]["line"]), (1, &json!(false), &json!(1)), "{found}");
}

#[test]
fn doctor_prints_json() {
    let dir = project();
    let (code, found) = asked(dir.path(), &["doctor", "--json", "claude"], "");
    assert_eq!(
        (code, &found["problems"], &found["clients"][0]["client"]),
        (78, &json!(1), &json!("claude")),
        "{found}"
    );
    let findings = found["clients"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["about"] == "problem"), "{found}");
    assert_eq!(hookbox(dir.path(), &[], &["install", "claude", "--yes"], "").status.code(), Some(0));
    let (_, found) = asked(dir.path(), &["doctor", "--json", "claude"], "");
    let findings = found["clients"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["about"] == "entry"), "{found}");
}

#[test]
fn token_and_digest_print_json() {
    let dir = project();
    let (code, made) = asked(dir.path(), &["token", "--json"], "");
    let token = made["token"].as_str().unwrap();
    let (_, hashed) = asked(dir.path(), &["token", "--json", "--hash"], token);
    assert_eq!((code, &made["hash"]), (0, &hashed["hash"]));
    assert!(made["hash"].as_str().unwrap().starts_with("sha256:") && hashed["token"].is_null());

    let (code, found) = asked(dir.path(), &["digest", "--json", "guard.wasm"], "");
    let bytes = fs::read(dir.path().join("guard.wasm")).unwrap();
    assert_eq!((code, &found["digest"]), (0, &json!(format!("sha256:{}", hookbox::sha256(bytes)))));
}

#[test]
fn health_prints_json_also_without_a_daemon() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("tenants")).unwrap();
    fs::write(dir.path().join("serve.json"), json!({ "listen": "unix:absent.sock", "tenants": "tenants" }).to_string())
        .unwrap();
    let (code, found) = asked(dir.path(), &["health", "--json"], "");
    assert_eq!((code, &found["ready"], &found["status"]), (1, &json!(false), &json!(null)), "{found}");
}

#[test]
fn trust_prints_json() {
    let dir = project();
    let (code, shown) = asked(dir.path(), &["trust", "--json", "--dry-run", "hooks.json"], "");
    assert_eq!((code, &shown["trusted"], &shown["dialect"]), (0, &json!(false), &json!("claude")), "{shown}");
    let hook = &shown["hooks"][0];
    assert!(hook["runs"].as_str().unwrap().starts_with("component ") && hook["componentDigest"].is_string(), "{hook}");
    assert!(hook["may"].to_string().contains("may decide"), "{hook}");
    let listed = || asked(dir.path(), &["trust", "--json", "--list"], "").1["configurations"].clone();
    assert_eq!(listed(), json!([]));
    assert_eq!(asked(dir.path(), &["trust", "--json", "hooks.json"], "").1["trusted"], true);
    assert_eq!((&listed()[0]["trusted"], &listed()[0]["state"]), (&json!(true), &json!("trusted")));
    let revoke = || asked(dir.path(), &["trust", "--json", "--revoke", "hooks.json"], "").1["revoked"].clone();
    assert_eq!((revoke(), revoke(), listed()), (json!(true), json!(false), json!([])));
}

#[test]
fn add_install_and_init_print_json() {
    let dir = tempfile::tempdir().unwrap();
    let add = || asked(dir.path(), &["add", "--json", "--yes", "command-guard"], "");
    let (code, added) = add();
    assert_eq!((code, &added["written"], &added["component"]), (0, &json!(true), &json!("hookbox:command-guard")));
    assert_eq!(add().1["written"], false, "it is there already");

    let (code, done) = asked(dir.path(), &["install", "--json", "--yes", "codebuddy"], "");
    assert_eq!((code, &done["client"], &done["written"]), (0, &json!("codebuddy"), &json!(true)), "{done}");
    assert_eq!((&done["files"][0]["file"], &done["files"][0]["change"]), (&done["settings"], &json!("written")));
    let (_, done) = asked(dir.path(), &["install", "--json", "--yes", "codebuddy"], "");
    assert_eq!(done["files"], json!([]), "nothing to change");
    let refused = hookbox(dir.path(), &[], &["install", "--json", "gemini"], "n\n");
    let refused: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((&refused["written"], &refused["files"]), (&json!(false), &json!([])), "{refused}");

    let dir = tempfile::tempdir().unwrap();
    let init = |more: &[&str]| {
        asked(dir.path(), &[&["init", "--json", "--client", "codebuddy", "--hook", "file-guard"], more].concat(), "").1
    };
    let planned = init(&["--dry-run"]);
    assert_eq!((&planned["written"], &planned["clients"][0]["client"]), (&json!(false), &json!("codebuddy")));
    assert!(!dir.path().join("hooks.json").exists());
    let made = init(&["--yes"]);
    let client = &made["clients"][0];
    assert_eq!((&made["written"], &client["written"]), (&json!(true), &json!(true)), "{made}");
    assert!(client["check"]["findings"].as_array().unwrap().len() > 2, "{made}");
    let undone = init(&["--undo", "--yes"]);
    assert_eq!(
        (&undone["written"], &undone["clients"][0]["files"][0]["change"]),
        (&json!(true), &json!("removed")),
        "{undone}"
    );
    assert!(!dir.path().join("hooks.json").exists());
}

#[test]
fn folders_that_are_not_utf8_are_no_bug() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&dir).unwrap();
    fs::copy(examples::component("command-guard"), dir.join("gate.wasm")).unwrap();
    let event = fs::write(dir.join("event.json"), RM).map(|()| dir.join("event.json")).unwrap();
    let init = ["init", "--json", "--client", "codebuddy", "--hook", "file-guard"];
    let planned = asked(&dir, &[&init[..], &["--dry-run"]].concat(), "");
    assert_eq!((planned.0, &planned.1["clients"][0]["client"]), (0, &json!("codebuddy")));
    assert_eq!(asked(&dir, &[&init[..], &["--yes"]].concat(), "").1["written"], true);
    assert_eq!(asked(&dir, &["install", "--json", "--yes", "--remove", "codebuddy"], "").0, 0);
    let mut bench = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let bench = bench.arg("bench").arg(dir.join("gate.wasm")).arg("--input").arg(event).output().unwrap();
    let said = String::from_utf8_lossy(&bench.stderr);
    assert!(bench.status.code() == Some(64) && said.contains("the path is not UTF-8"), "{said}");
}

#[test]
fn new_and_build_print_json() {
    let dir = project();
    let (code, made) = asked(dir.path(), &["new", "--json", "mine", "--lang", "rust"], "");
    assert_eq!((code, &made["folder"], &made["language"]), (0, &json!("./mine"), &json!("Rust")), "{made}");
    assert!(made["files"].as_array().unwrap().contains(&json!("hooks.json")), "{made}");
    // From a core module, because the compilers have their own tests.
    fs::write(dir.path().join("core.wasm"), wat::parse_str(guest::gate("", "")).unwrap()).unwrap();
    for built in [true, false] {
        let (code, found) = asked(dir.path(), &["build", "--json", "core.wasm", "-o", "gate.wasm"], "");
        assert_eq!((code, &found["built"], &found["handles"]), (0, &json!(built), &json!(["PreToolUse"])), "{found}");
    }
}

#[test]
fn help_knows_topics_and_commands() {
    let dir = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| {
        let output = hookbox(dir.path(), &[], &[&["help"], args].concat(), "");
        (output.status.code().unwrap(), stdout(&output) + &String::from_utf8(output.stderr).unwrap())
    };
    let all = stdout(&hookbox(dir.path(), &[], &["--help"], ""));
    let topics = all
        .split("Topics (hookbox help TOPIC):\n")
        .nth(1)
        .unwrap()
        .lines()
        .map_while(|line| line.split_whitespace().next());
    let topics: Vec<&str> = topics.collect();
    assert!(topics.len() >= 7, "{all}");
    for topic in topics {
        let (code, text) = help(&[topic]);
        assert!(code == 0 && text.lines().count() > 5, "{topic}: {text}");
    }
    assert_eq!(help(&[]), (0, all.clone()));
    assert_eq!(help(&["check"]).1, stdout(&hookbox(dir.path(), &[], &["check", "--help"], "")));
    let verify = stdout(&hookbox(dir.path(), &[], &["records", "verify", "--help"], ""));
    assert_eq!(help(&["records", "verify"]).1, verify);
    let (code, text) = help(&["exit-code"]);
    assert!(code == 64 && text.contains("did you mean `exit-codes`?"), "{text}");
    let (code, text) = help(&["records", "verfy"]);
    assert!(code == 64 && text.contains("did you mean `verify`?"), "{text}");
    let (code, text) = help(&["zork"]);
    assert!(code == 64 && text.contains("the topics are clients"), "{text}");
}

/// Every command that has `--json` is in the topic, and no other.
#[test]
fn the_topic_on_json_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| stdout(&hookbox(dir.path(), &[], args, ""));
    let help = run(&["--help"]);
    let commands = help.split("Commands:\n").nth(1).unwrap().lines().map_while(|line| line.trim().split(' ').next());
    let commands: Vec<String> = commands.take_while(|name| !name.is_empty()).map(str::to_owned).collect();
    let commands = commands.into_iter().chain(["records verify".to_owned()]);
    let mut with: Vec<String> = commands
        .filter(|command| run(&[command.split(' ').collect::<Vec<_>>(), vec!["--help"]].concat()).contains("--json"))
        .collect();
    with.sort();
    let topic = run(&["help", "json"]);
    let listed = topic.lines().filter(|line| line.starts_with("  "));
    let listed: Vec<&str> =
        listed.flat_map(|line| line.split("  ").map(str::trim)).filter(|name| !name.is_empty()).collect();
    assert_eq!(listed, with);
}
