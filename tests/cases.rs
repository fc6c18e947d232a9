//! `hookbox test`, which passes correct cases and shows differences with their place, and `hookbox bench`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fs, path::Path, process::Command};

use hookbox_testing::examples;

fn test(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut hookbox = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let output = hookbox.arg("test").args(["."]).args(args).current_dir(folder).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

/// An example with its component, in the layout of its author's folder.
fn example(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(examples::component(name), dir.path().join(format!("{name}.wasm"))).unwrap();
    fs::create_dir(dir.path().join("tests")).unwrap();
    for file in ["hooks.json", "tests/cases.yaml"] {
        fs::copy(examples::examples_dir().join(name).join(file), dir.path().join(file)).unwrap();
    }
    dir
}

fn write(folder: &Path, cases: &str) {
    fs::write(folder.join("tests/cases.yaml"), cases).unwrap();
}

fn read(folder: &Path) -> String {
    fs::read_to_string(folder.join("tests/cases.yaml")).unwrap()
}

const DENIED: &str = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}"#;

#[test]
fn passing_cases_are_ok() {
    let dir = example("command-guard");
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("ok      denies rm -rf\n"), "{said}");
    assert!(said.ends_with("4 cases, 0 failed\n"), "{said}");
    let (_, said) = test(dir.path(), &["--only", "mkfs"]);
    assert_eq!(said, "ok      denies mkfs under codebuddy\n1 case, 0 failed\n");
}

#[test]
fn differences_are_shown_with_their_pointers() {
    let dir = example("command-guard");
    let cases = format!(
        r#"# Everything is wrong.
- name: "the output"
  event: {DENIED}
  expect: {{"decision": "allow", "output": {{"hookSpecificOutput": {{"permissionDecision": "allow"}}}}}}
- name: "the rest"
  event: {DENIED}
  expect: {{"fault": "no such fault", "log": ["info: nothing"], "fuel": 10, "state": {{"a/b": 1}}}}
- name: "no event"
  line: '{{"hook_event_name":'
"#
    );
    write(dir.path(), &cases);
    let (code, said) = test(dir.path(), &["--junit", "report.xml"]);
    assert_eq!(code, Some(1), "{said}");
    for lines in [
        "FAILED  the output   ./tests/cases.yaml:2\n   decision\n      expected  \"allow\"\n      found     \"deny\"\n",
        "   output /hookSpecificOutput/permissionDecision\n      expected  \"allow\"\n      found     \"deny\"\n",
        "   output /hookSpecificOutput/hookEventName\n      expected  nothing\n",
        "   command-guard.wasm  deny",
        "   no hook failed with `no such fault`\n",
        "   log /0\n      expected  \"info: nothing\"\n      found     nothing\n",
        "   state a/b\n      expected  \"1\"\n      found     nothing\n",
        "units of fuel, more than 10\n",
        "FAILED  no event   ./tests/cases.yaml:8\n   event: not valid JSON: ",
        "3 cases, 3 failed\n",
    ] {
        assert!(said.contains(lines), "--- expected\n{lines}\n--- said\n{said}");
    }
    let report = fs::read_to_string(dir.path().join("report.xml")).unwrap();
    for part in [
        r#"<testsuite name="./tests/cases.yaml" tests="3" failures="3">"#,
        r#"<testcase classname="./tests/cases.yaml" name="the output" time=""#,
        r#"<failure message="./tests/cases.yaml:2">   decision"#,
        "expected  &quot;allow&quot;",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
}

/// An update keeps comments and layout. It does not accept failures or a different fuel use.
#[test]
fn update_writes_only_actual_results() {
    let dir = example("rate-limit");
    let event = |tool: &str| {
        format!(r#"{{"hook_event_name": "PreToolUse", "session_id": "é", "tool_name": "{tool}", "tool_input": {{}}}}"#)
    };
    let cases = format!(
        "# é: the limits\n- name: one event\n  event: {web}   # as it comes\n\n- name: in brackets\n  events:\n    \
         - {{event: {bash}, expect: {{decision: ask, state: {{}}}}}}\n    - {{event: {bash}}}\n- name: a failure\n  \
         state: {{calls/é/Bash: many}}\n  event: {bash}\n  expect:\n    # shut\n    decision: allow\n    output: |\n      \
         text\n    log: []\n# the end\n",
        web = event("WebSearch"),
        bash = event("Bash"),
    );
    write(dir.path(), &cases);
    let (code, said) = test(dir.path(), &["--update"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("ok      one event\nok      in brackets\nFAILED  a failure"), "{said}");
    let denied =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason""#;
    let updated = read(dir.path());
    for part in [
        "# é: the limits\n- name: one event\n",
        "  expect:\n    decision: deny\n    output:\n      hookSpecificOutput:\n        hookEventName: PreToolUse\n",
        r#"expect: {decision: "none", state: {"calls/é/Bash":"1"}}}"#,
        r#"}, expect: {"decision":"none","output":{}}}"#,
        "    # shut\n    decision: \"deny\"\n    output:",
        "    log: []\n# the end\n",
    ] {
        assert!(updated.contains(part), "--- expected\n{part}\n--- written\n{updated}");
    }
    assert!(!updated.contains("text\n") && !updated.contains(denied), "{updated}");
    let (_, said) = test(dir.path(), &[]);
    assert!(said.contains("FAILED  a failure") && said.ends_with("3 cases, 1 failed\n"), "{said}");
    assert_eq!(read(dir.path()), updated);
    let with_fault = updated.replace("    log: []", "    log: []\n    fault: not a whole number");
    write(dir.path(), &with_fault);
    let (code, said) = test(dir.path(), &["--update"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(read(dir.path()), with_fault, "what holds is left alone");
}

/// The events of a case share its state. Different cases and runs share nothing.
#[test]
fn cases_are_independent() {
    let dir = example("rate-limit");
    for _ in 0..2 {
        let (code, said) = test(dir.path(), &[]);
        assert_eq!(code, Some(0), "{said}");
    }
    let event = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}}"#;
    let case = |number: u32| {
        format!(
            "- name: {number}\n  state: {{calls/s/Bash: {number}}}\n  event: {event}\n  \
             expect: {{state: {{calls/s/Bash: {}}}}}\n",
            number + 1
        )
    };
    let cases: Vec<_> = (0..40).map(case).collect();
    write(dir.path(), &cases.concat());
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
}

/// A case can override the shipped configuration: its dialect, settings and grants.
#[test]
fn a_case_can_override_the_configuration() {
    let dir = example("rate-limit");
    let event = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}}"#;
    let cases = format!(
        r#"- name: "other settings"
  config: {{"max": 0}}
  event: {event}
  expect: {{"decision": "deny"}}
- name: "other grants"
  permissions: {{"state": {{"maxKeys": 1}}}}
  state: {{"calls/t/Bash": 1}}
  event: {event}
  expect: {{"decision": "deny", "output": {{"hookSpecificOutput": {{"hookEventName": "PreToolUse",
    "permissionDecision": "deny", "permissionDecisionReason": "there are too many counts to make another"}}}}}}
- name: "another policy"
  configuration: {{"failClosed": false}}
  state: {{"calls/s/Bash": many}}
  event: {event}
  expect: {{"decision": "none", "fault": "not a whole number"}}
- name: "a recorded line under another dialect"
  dialect: blade-callback
  configuration: {{"hooks": {{"PreToolUse": [{{"type": "wasm", "component": "rate-limit.wasm", "permissions": {{"state": true}},
    "authority": {{"decide": ["skip"]}}, "config": {{"max": 0}}}}]}}}}
  line: '{{"event":"PreToolUse","sessionId":"s","toolName":"Bash","toolUseId":"t","input":{{}}}}'
  expect: {{"decision": "skip"}}
"#
    );
    write(dir.path(), &cases);
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
}

/// Canned responses replace an HTTP server and a model, and the expected requests are checked.
#[test]
fn answers_stand_in_for_servers_and_the_model() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("tests")).unwrap();
    let config = r#"{"dialect": "claude", "failClosed": true, "hooks": {
        "PreToolUse": [{"hooks": [{"type": "http", "url": "https://policy.example/decide", "headers": {"X-Team": "a"}}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "prompt", "prompt": "Is this allowed? $ARGUMENTS"}]}]}}"#;
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    let deny = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}"#;
    let prompt = r#"{"hook_event_name": "UserPromptSubmit", "prompt": "hello"}"#;
    let cases = format!(
        r#"- name: the policy denies
  http:
    - url: https://policy.example/decide
      method: POST
      headers: {{X-Team: a}}
      body: {DENIED}
      answer: {{body: {deny}}}
  event: {DENIED}
  expect: {{decision: deny}}
- name: two answers in a row
  http:
    - {{url: https://policy.example/…, answer: {{body: {deny}}}}}
    - {{url: https://policy.example/…, answer: {{body: {{}}}}}}
  events:
    - {{event: {DENIED}, expect: {{decision: deny}}}}
    - {{event: {DENIED}, expect: {{decision: none}}}}
- name: the policy server is away
  http: [{{url: https://policy.example/decide, error: connection refused}}]
  event: {DENIED}
  expect: {{decision: deny, fault: connection refused}}
- name: the policy server is slow
  http: [{{url: https://policy.example/decide, error: timeout}}]
  event: {DENIED}
  expect: {{decision: deny, fault: timed out}}
- name: the model says no
  llm: [{{user: Is this allowed?…, answer: '{{"ok": false, "reason": "not today"}}'}}]
  event: {prompt}
  expect: {{decision: deny}}
- name: the model cannot be asked
  llm: [{{error: no credit}}]
  event: {prompt}
  expect: {{decision: deny, fault: no credit}}
"#
    );
    write(dir.path(), &cases);
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(0), "{said}");

    let cases = format!(
        r#"- name: another request
  http: [{{url: https://policy.example/decide, method: GET, body: {{tool_name: Read}}, answer: {{}}}}]
  event: {DENIED}
  expect: {{fault: no response}}
- name: no request
  http: [{{url: https://policy.example/other}}]
  llm: [{{user: Why?, answer: because}}]
  event: {{"hook_event_name": "Stop"}}
- name: none expected
  http: []
  event: {DENIED}
  expect: {{fault: no response}}
- name: another question
  llm: [{{user: Why?, answer: because}}]
  event: {prompt}
  expect: {{fault: no response}}
"#
    );
    write(dir.path(), &cases);
    let (code, said) = test(dir.path(), &["--update"]);
    assert_eq!(code, Some(1), "{said}");
    for lines in [
        "   http: unexpected request POST https://policy.example/decide: the case has no response for it\n",
        "      http /0 /method\n         expected  \"GET\"\n         found     \"POST\"\n",
        "      http /0 /body/tool_name\n         expected  \"Read\"\n         found     \"Bash\"\n",
        "FAILED  no request   ./tests/cases.yaml:5\n   http /0: https://policy.example/other was not requested\n",
        "   llm /0: Why? was not requested\n",
        "   llm: unexpected request \"Is this allowed? ",
        "      llm /0 /user\n         expected  \"Why?\"\n",
        "4 cases, 4 failed\n",
    ] {
        assert!(said.contains(lines), "--- expected\n{lines}\n--- said\n{said}");
    }
    for (text, why) in [
        (r#"[{"name": "x", "event": {}, "http": [{"url": "a", "reply": {}}]}]"#, "unknown field `reply`"),
        (r#"[{"name": "x", "event": {}, "llm": [{"question": "a"}]}]"#, "unknown field `question`"),
        (r#"[{"name": "x", "event": {}, "http": [{"method": "GET"}]}]"#, "missing field `url`"),
    ] {
        write(dir.path(), text);
        let (code, said) = test(dir.path(), &[]);
        assert!(code == Some(64) && said.contains(why), "{said}");
    }
}

/// A misspelt event name in a case is an error. It does not count as an event without hooks.
#[test]
fn a_misspelt_event_name_is_reported() {
    let dir = example("command-guard");
    write(
        dir.path(),
        "- name: odd
  eventName: PreTolUse
  event: {tool_name: Bash, tool_input: {}}
",
    );
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(65), "{said}");
    assert!(said.contains("unknown event `PreTolUse` (did you mean `PreToolUse`?)"), "{said}");
}

/// `hookbox bench`, and the advice of `hookbox inspect`, which makes the same kind of calls.
#[test]
fn costs_of_a_call_are_measured() {
    let dir = example("command-guard");
    fs::write(dir.path().join("event.json"), DENIED).unwrap();
    fs::write(dir.path().join("stop.json"), r#"{"hook_event_name": "Stop"}"#).unwrap();
    let hookbox = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hookbox")).args(args).current_dir(dir.path()).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let bench = |args: &[&str]| {
        let common = ["bench", "command-guard.wasm", "--input", "event.json", "--runs", "5"];
        hookbox(&[&common, args].concat())
    };
    let (code, json, said) = bench(&["--json"]);
    assert_eq!(code, Some(0), "{said}");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&report["decision"], &report["runs"]), (&"deny".into(), &5.into()));
    let of = |key: &str| report[key].as_u64().unwrap();
    assert!(0 < of("minNs") && of("minNs") <= of("p50Ns") && of("p50Ns") <= of("maxNs"), "{json}");
    // Rust's allocator starts with 17 pages.
    assert!(of("fuel") > 1_000 && of("memoryBytes") > 1 << 20, "{json}");

    fs::write(dir.path().join("earlier.json"), &json).unwrap();
    let (code, table, said) = bench(&["--config", "hooks.json", "--against", "earlier.json"]);
    assert_eq!(code, Some(0), "{said}");
    for line in ["command-guard.wasm   PreToolUse under claude: deny   5 calls", "  time, p50 ", "was ", "+0 %"] {
        assert!(table.contains(line), "{line}\n{table}");
    }
    let (code, shown, said) = hookbox(&["inspect", "command-guard.wasm", "--input", "event.json"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(shown.contains("  advised   \"limits\": { \"fuel\": "), "{shown}");

    let (code, _, said) = hookbox(&["bench", "command-guard.wasm", "--input", "stop.json"]);
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("it is not called for Stop"), "{said}");
    let (code, _, said) = bench(&["--against", "event.json"]);
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("event.json: not an output of `hookbox bench --json`"), "{said}");
}

#[test]
fn a_configuration_that_is_not_json_is_a_configuration_error() {
    let dir = example("command-guard");
    fs::write(dir.path().join("hooks.json"), "{").unwrap();
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("hooks.json: "), "{said}");
}

#[test]
fn errors_in_cases_are_reported() {
    let dir = example("command-guard");
    for (text, why) in [
        ("[", "cases.yaml: "),
        ("[]", "has no cases"),
        (r#"[{"name": "x", "event": {}, "expected": {}}]"#, "unknown field `expected`"),
        (r#"[{"name": "x", "expect": {"wire": {}}}]"#, "unknown field `wire`"),
        (r#"[{"name": "x"}]"#, "\"x\": it needs either an `event` or its recorded `line`"),
        (r#"[{"name": "x", "events": [], "event": {}}]"#, "\"x\" has `events`"),
    ] {
        write(dir.path(), text);
        let (code, said) = test(dir.path(), &[]);
        assert_eq!(code, Some(64), "{said}");
        assert!(said.contains("cases.yaml") && said.contains(why), "{said}");
    }
    write(dir.path(), &format!("- name: odd\n  dialect: clod\n  event: {DENIED}\n"));
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("./tests/cases.yaml:1: odd") && said.contains("clod"), "{said}");
    fs::remove_file(dir.path().join("tests/cases.yaml")).unwrap();
    let (code, said) = test(dir.path(), &[]);
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("./tests has no cases: no file ends in .yaml"), "{said}");
}
