//! Gates that are waiting when the process ends, and gates whose lines are invalid.

use hookbox_testing::guest::bomb;

use super::*;

/// A way to end a hook process.
#[derive(Debug, Clone, Copy)]
enum End {
    Signal(Signal),
    Closed,
}

const ENDS: [End; 4] = [End::Signal(Signal::TERM), End::Signal(Signal::INT), End::Signal(Signal::HUP), End::Closed];

impl End {
    fn of(self, process: &mut Process) {
        match self {
            Self::Signal(signal) => kill_process(Pid::from_child(&process.child), signal).unwrap(),
            Self::Closed => drop(process.stdin.take()),
        }
    }
}

fn is_shut(reply: &Value) -> bool {
    let result = &reply["result"];
    let stops = ["deny_tool", "abort_turn"].iter().any(|action| result["action"] == *action);
    reply.get("error").is_none() && (stops || result["approved"] == false)
}

/// More gates than hooks can run at once. Each hook would take ten minutes.
#[test]
fn every_pending_gate_denies_at_shutdown() {
    let command = "echo >> begun; exec sleep 600";
    for policy in [json!({ "failClosed": true }), json!({})] {
        for end in ENDS {
            let mut hook = json!({ "type": "command", "command": command, "timeout": 600,
                "intercept": ["before_tool", "approve_tool", "before_llm"] });
            if policy.get("failClosed").is_none() {
                hook["onFailure"] = json!("block");
            }
            let mut config = json!({ "dialect": "picoclaw", "hooks": { "slow": hook } });
            config.as_object_mut().unwrap().extend(policy.as_object().unwrap().clone());
            let mut process = Process::start(&config, &PATIENT);
            let gates = 100;
            for id in 1..=gates {
                process.send(match id % 3 {
                    0 => request(id, "hook.before_tool", exec("ls")),
                    1 => request(id, "hook.approve_tool", exec("ls")),
                    _ => request(id, "hook.before_llm", json!({ "model": "m", "messages": [] })),
                });
            }
            let begun = process.folder.path().join("begun");
            until(|| begun.exists(), "a hook begins");
            end.of(&mut process);
            let mut waiting: std::collections::BTreeSet<u64> = (1..=gates).collect();
            while !waiting.is_empty() {
                let Some(reply) = process.next_reply() else {
                    let rest = waiting.len();
                    panic!("{end:?} {policy}: {rest} of {gates} without an answer: {:?}", process.end());
                };
                assert!(waiting.remove(&reply["id"].as_u64().unwrap()), "{end:?}: {reply}");
                assert!(is_shut(&reply), "{end:?}: {reply}");
            }
            let (code, stderr, _) = process.end();
            assert_eq!(code, Some(0), "{end:?}: {stderr}");
        }
    }
}

#[test]
fn a_gate_that_is_compiling_denies_at_shutdown() {
    for end in ENDS {
        let hook = json!({ "type": "wasm", "component": "bomb.wasm", "intercept": ["before_tool"], "timeout": 600 });
        let config = json!({ "dialect": "picoclaw", "failClosed": true, "hooks": { "guard": hook } });
        let mut process =
            Process::laid_out(&config, &PATIENT, |folder| fs::write(folder.join("bomb.wasm"), bomb()).unwrap());
        process.send(request(1, "hook.before_tool", exec("ls")));
        let pid = process.child.id();
        until(|| !children(pid).is_empty(), "the compiler begins");
        end.of(&mut process);
        assert_eq!(process.reply()["result"]["action"], "deny_tool", "{end:?}");
        assert_eq!(process.end().0, Some(0), "{end:?}");
    }
}

/// A line that was sent before a signal is answered, even if the signal is handled first.
#[test]
fn a_gate_that_was_sent_before_the_signal_is_answered() {
    let gate = json!({ "type": "command", "command": "exec sleep 600", "timeout": 600, "intercept": ["before_tool"] });
    let mut process =
        Process::start(&json!({ "dialect": "picoclaw", "failClosed": true, "hooks": { "slow": gate } }), &PATIENT);
    process.ask("hook.hello", json!({ "version": 1 }));
    process.send(request(1, "hook.before_tool", exec("ls")));
    kill_process(Pid::from_child(&process.child), Signal::TERM).unwrap();
    assert_eq!(process.reply()["result"]["action"], "deny_tool");
    assert_eq!(process.end().0, Some(0));
}

/// Lines that no client should send, and the reply that blocks the gate that they may be.
const UNREADABLE: [(&str, &str); 13] = [
    (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"hook.before_tool","params":{"tool":"exec"}}"#, "deny_tool"),
    (r#"{"jsonrpc":"2.0","id":7,"id":0,"method":"hook.before_tool","params":{"tool":"exec"}}"#, "deny_tool"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.event","method":"hook.before_tool","params":{}}"#, "deny_tool"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","method":"hook.event","params":{}}"#, "deny_tool"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.hello","method":"hook.before_tool","params":{}}"#, "deny_tool"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","method":"hook.approve_tool","params":{}}"#, "approved"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.approve_tool","method":"hook.before_llm","params":{}}"#, "approved"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_llm","method":"hook.hello","params":{}}"#, "abort_turn"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","method":7,"params":{}}"#, "deny_tool"),
    (r#"{"jsonrpc":"2.0","id":7,"meth"#, "abort_turn"),
    (r#"{"jsonrpc":"2.0","id":7,"method":"hook.bef"#, "abort_turn"),
    (r#"{"jsonrpc":"2.0","id":7,"params":{"tool":"exec","arguments":{"a":"#, "deny_tool"),
    (r#"{"id":7"#, "abort_turn"),
];

#[test]
fn an_unreadable_line_denies() {
    let modes = json!(["before_tool", "approve_tool", "before_llm"]);
    let open = json!({ "type": "command", "command": "true", "intercept": modes });
    let mut blocks = open.clone();
    blocks["onFailure"] = json!("block");
    for config in [
        json!({ "dialect": "picoclaw", "failClosed": true, "hooks": { "gate": open.clone() } }),
        json!({ "dialect": "picoclaw", "hooks": { "gate": blocks } }),
    ] {
        let mut process = Process::start(&config, &PATIENT);
        for (line, word) in UNREADABLE {
            process.send(line);
            let reply = process.reply();
            let shut = if word == "approved" {
                reply["result"]["approved"] == false
            } else {
                reply["result"]["action"] == word
            };
            assert!(shut && is_shut(&reply), "{line}: {reply}");
            assert_ne!(reply["id"], 0, "{line}: {reply}");
        }
        assert_eq!(process.end().0, Some(0));
    }
    // If failures do not block, the reply is an error and never an approval. A hook that approves blocks.
    let mut ignores = open;
    ignores["intercept"] = json!(["before_tool", "before_llm"]);
    let mut process = Process::start(&json!({ "dialect": "picoclaw", "hooks": { "gate": ignores } }), &PATIENT);
    for (line, word) in UNREADABLE {
        process.send(line);
        let reply = process.reply();
        let told = if word == "approved" { &reply["result"]["reason"] } else { &reply["error"]["message"] };
        assert!(told.is_string() && reply["result"]["approved"] != true, "{line}: {reply}");
    }
    assert_eq!(process.end().0, Some(0));
}
