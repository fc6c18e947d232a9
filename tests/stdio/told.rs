//! Reports about hooks under `stdio`: on stderr and in records.

use super::*;

fn failing() -> Value {
    json!({ "dialect": "picoclaw", "hooks": {
        "fails": { "type": "command", "command": "exit 3", "intercept": ["before_tool"], "observe": ["tool_exec_start"],
            "onFailure": "ignore", "priority": 1 },
        "denies": { "type": "command", "command": "echo no >&2; exit 2", "intercept": ["before_tool"], "priority": 2 },
    } })
}

/// Sends one request and one notification. Returns the lines on stderr.
fn told(more: &[&str]) -> Vec<String> {
    let more = [&PATIENT[..], more].concat();
    let mut process = Process::start(&failing(), &more);
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"]["action"], "deny_tool");
    process.send(r#"{"jsonrpc":"2.0","method":"hook.event","params":{"Kind":8,"Payload":{"Tool":"exec"}}}"#);
    let (code, stderr, _) = process.end();
    assert_eq!(code, Some(0), "{stderr}");
    stderr.lines().map(str::to_owned).collect()
}

#[test]
fn each_failed_hook_is_a_line_on_stderr() {
    let lines = told(&[]);
    let failed = |event: &str| {
        let begin = format!("hookbox: {event}: hook fails failed: ");
        lines.iter().filter(|line| line.starts_with(&begin)).count()
    };
    assert_eq!((failed("hook.before_tool"), failed("hook.event")), (1, 1), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("hook denies failed")), "{lines:?}");
}

#[test]
fn diagnostics_follow_their_level() {
    let human = told(&["--diagnostics", "human"]);
    assert!(human.iter().any(|line| line.starts_with("hookbox: hook.before_tool under picoclaw: deny")), "{human:?}");
    let json = told(&["--diagnostics", "json"]);
    let objects: Vec<Value> = json.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(objects.iter().any(|object| object["hook"] == "fails" && object["verdict"] == "failed"), "{json:?}");
    assert!(objects.iter().any(|object| object["verdict"] == "deny" && object["event"] == "hook.before_tool"));
    let off = told(&["--diagnostics", "off"]);
    assert!(!off.iter().any(|line| line.contains("failed")), "{off:?}");
}

/// The help says of `off`: "Nothing but errors".
#[test]
fn warnings_about_the_configuration_are_off_too() {
    let config = json!({ "dialect": "picoclaw", "hooks": {
        "elsewhere": { "type": "command", "command": "true", "intercept": ["hook.no_client_sends_this"] } } });
    let told = |more: &[&str]| {
        let process = Process::start(&config, &[&PATIENT[..], more].concat());
        process.end().1
    };
    let warned = told(&[]);
    assert!(warned.contains("no_client_sends_this"), "{warned}");
    assert_eq!(told(&["--diagnostics", "off"]), "");
}

#[test]
fn each_verdict_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.jsonl");
    told(&["--record", file.to_str().unwrap()]);
    let text = fs::read_to_string(&file).unwrap();
    let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.sort_by_key(|record| record["event"].as_str().unwrap().to_owned());
    let told: Vec<_> = records.iter().map(|record| (&record["event"], &record["verdict"])).collect();
    assert_eq!(told[0].0, "hook.before_tool");
    assert_eq!((told[0].1, told[1].0, told.len()), (&json!("deny"), &json!("hook.event"), 2), "{text}");
    assert_eq!(records[0]["hooks"].as_array().unwrap().len(), 2);
    // A file that cannot be written causes no delay.
    let lines = self::told(&["--record", "/nowhere/at/all/records.jsonl"]);
    assert!(lines.iter().any(|line| line.contains("/nowhere/at/all/records.jsonl")), "{lines:?}");
}
