//! Sharing and taking a hook under every protocol: two commands each, and an update that asks for more is stopped with a
//! diff that the client shows.

use std::fs;

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::setup::{Setup, greedy, keys, silent, text};

/// A client: its dialect, and an event before a tool call with the name of the event.
fn clients() -> Vec<(&'static str, &'static str, Value)> {
    let call = json!({ "command": "ls" });
    let claude =
        |name: &str| json!({ "hook_event_name": name, "session_id": "s", "tool_name": "Bash", "tool_input": call });
    let callback = json!({ "event": "PreToolUse", "sessionId": "s", "toolName": "Bash", "toolInput": call });
    let picoclaw = json!({ "jsonrpc": "2.0", "id": 7, "method": "hook.before_tool", "params": { "tool": "exec", "arguments": call } });
    vec![
        ("claude", "PreToolUse", claude("PreToolUse")),
        ("codebuddy", "PreToolUse", claude("PreToolUse")),
        ("codex", "PreToolUse", claude("PreToolUse")),
        ("opencode", "PreToolUse", claude("PreToolUse")),
        ("blade", "PreToolUse", claude("PreToolUse")),
        ("copilot", "preToolUse", claude("preToolUse")),
        ("gemini", "BeforeTool", claude("BeforeTool")),
        ("blade-callback", "PreToolUse", callback),
        ("picoclaw", "hook.before_tool", picoclaw),
    ]
}

/// A configuration of the hook in the dialect's form, which grants state.
fn configuration(setup: &Setup, dialect: &str, event: &str) -> Value {
    let mut hook = json!({ "type": "wasm", "component": setup.reference(), "permissions": { "state": true } });
    let hooks = match dialect {
        "picoclaw" => {
            hook["intercept"] = json!([event.trim_start_matches("hook.")]);
            json!({ "guard": hook })
        }
        "blade-callback" => json!({ event: [hook] }),
        _ => json!({ event: [{ "hooks": [hook] }] }),
    };
    json!({ "dialect": dialect, "hooks": hooks })
}

#[test]
fn every_client_shows_the_permissions_of_a_hostile_update() {
    let setup = Setup::new(&silent(1));
    let [(key, public), _] = keys(setup.home.path());
    setup.policy(&json!({ "keys": [public] }), &json!({}));
    // Two commands share a hook. `Setup::new` did the first.
    setup.sign(&key);
    let names: Vec<String> = clients().iter().map(|(dialect, ..)| format!("{dialect}.json")).collect();
    let run =
        |name: &str, wire: &Value| fed(&mut setup.command(&["run", "--config", name]), wire.to_string().as_bytes());
    for ((dialect, event, wire), name) in clients().iter().zip(&names) {
        fs::write(setup.dir.path().join(name), configuration(&setup, dialect, event).to_string()).unwrap();
        let blocked = text(&run(name, wire));
        assert!(blocked.contains("hookbox lock") || blocked.contains("hookbox.lock"), "{dialect}: {blocked}");
        // One command takes it, and then it runs.
        setup.does(&["lock", name]);
        let output = run(name, wire);
        assert!(output.status.success() && !text(&output).contains("hookbox.lock"), "{dialect}: {output:?}");
    }
    let whole = fs::read_to_string(setup.lock_file()).unwrap();

    // The publisher was taken over: one more import, with a valid signature.
    let found = setup.push(&greedy(), "1");
    setup.sign(&key);
    let told = setup.ends(81, &["update", "--config", &names[0]]);
    assert!(told.contains("+ asks for state") && told.contains("hookbox approve"), "{told}");
    assert_eq!(fs::read_to_string(setup.lock_file()).unwrap(), whole);
    let manifest = found.trim().split_once('@').unwrap().1.to_owned();
    for ((dialect, _, wire), name) in clients().iter().zip(&names) {
        // The old one stays in use in every client.
        assert!(run(name, wire).status.success(), "{dialect}");
        // Also a person who can change the checkout gets it no further than to a message.
        setup.edit(|lock| {
            let entry = &mut lock["components"][setup.reference()];
            entry["digest"] = format!("sha256:{}", hookbox::sha256(greedy())).into();
            entry["manifest"] = manifest.clone().into();
            entry["imports"] = json!(["state"]);
        });
        let output = run(name, wire);
        let said = text(&output);
        assert!(said.contains("is not approved (+ asks for state)"), "{dialect}: {said}");
        assert!(blocks(dialect, &output), "{dialect}: {output:?}");
        fs::write(setup.lock_file(), &whole).unwrap();
    }
}

/// Returns true if the client does not run the tool.
fn blocks(dialect: &str, output: &std::process::Output) -> bool {
    let wire: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let denies = |pointer: &str, words: &[&str]| {
        wire.pointer(pointer).and_then(Value::as_str).is_some_and(|word| words.contains(&word))
    };
    output.status.code() == Some(2)
        || match dialect {
            "picoclaw" => denies("/result/action", &["deny_tool", "abort_turn"]),
            "blade-callback" => denies("/action", &["skip", "abort"]),
            "gemini" => denies("/decision", &["deny", "block"]),
            "copilot" => denies("/permissionDecision", &["deny"]) || denies("/decision", &["block", "deny"]),
            _ => denies("/hookSpecificOutput/permissionDecision", &["deny"]) || denies("/decision", &["block", "deny"]),
        }
}
