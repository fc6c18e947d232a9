//! One component under every agent: five configurations and five correct outputs.
//!
//! If a dialect does not have the event, the row has the nearest one and the hook's status there.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hookbox_testing::examples;
use std::path::Path;

use hookbox::{HookSet, dialect, dialect::ConfigShape, verdict::Status};
use serde_json::{Value, json};

/// One example on one event of one dialect.
struct Row {
    dialect: &'static str,
    event: Value,
    expect: Value,
    /// `ran`, or `not handled` if the component does not export the event.
    becomes: &'static str,
    /// Words that the notes about the hook must have, for parts that are lost.
    lost: &'static [&'static str],
}

fn spec(dialect: &'static str, event: Value, expect: Value) -> Row {
    Row { dialect, event, expect, becomes: "ran", lost: &[] }
}

impl Row {
    fn loses(self, lost: &'static [&'static str]) -> Self {
        Self { lost, ..self }
    }

    fn not_handled(self) -> Self {
        Self { becomes: "not handled", ..self }
    }

    fn event_name(&self) -> &str {
        ["hook_event_name", "event", "method"].iter().find_map(|key| self.event[*key].as_str()).unwrap()
    }

    /// The example's configuration in the dialect's form.
    fn config(&self, handler: &Value) -> Value {
        let name = self.event_name();
        let hooks = match dialect::by_name(self.dialect).unwrap().shape() {
            ConfigShape::Groups => json!({ name: [{ "hooks": [handler] }] }),
            ConfigShape::Flat => json!({ name: [handler] }),
            ConfigShape::Named => {
                let mut named = handler.clone();
                named["intercept"] = json!([name.trim_start_matches("hook.")]);
                json!({ "example": named })
            }
        };
        json!({ "dialect": self.dialect, "hooks": hooks })
    }
}

async fn check(example: &str, options: Value, specs: Vec<Row>) {
    let dialects: Vec<&str> = specs.iter().map(|spec| spec.dialect).collect();
    assert_eq!(dialects, ["claude", "codebuddy", "blade", "blade-callback", "picoclaw"], "{example}");
    let component = examples::component(example);
    for spec in specs {
        let mut handler = json!({ "type": "wasm", "component": component });
        handler.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let (wire, becomes, notes) = judge(&spec.config(&handler), &spec.event).await;
        let place = format!("{example} under {}, {}: {notes:?}", spec.dialect, spec.event_name());
        assert_eq!(wire, spec.expect, "{place}");
        assert_eq!(becomes, spec.becomes, "{place}");
        for word in spec.lost {
            assert!(notes.iter().any(|note| note.contains(word)), "no note says `{word}`; {place}");
        }
        assert!(!spec.lost.is_empty() || notes.is_empty(), "{place}");
    }
}

async fn judge(config: &Value, event: &Value) -> (Value, &'static str, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    std::fs::write(&path, config.to_string()).unwrap();
    let host = build(&path).await;
    let verdict = host.dispatch(event.to_string()).await.unwrap();
    let (becomes, notes) = match &verdict.hooks[0].status {
        // The configuration names an event that the component does not export, so the hook failed.
        Status::Ran(ran)
            if ran.result.as_ref().is_err_and(|failure| failure.message.contains("does not handle it")) =>
        {
            ("not handled", Vec::new())
        }
        Status::Ran(ran) => {
            assert!(ran.result.is_ok(), "{:?}", ran.result);
            ("ran", ran.notes.iter().map(|note| note.text.clone()).collect())
        }
        Status::NotHandled => ("not handled", Vec::new()),
        other => panic!("{other:?}"),
    };
    (verdict.wire.clone().unwrap(), becomes, notes)
}

async fn build(config: &Path) -> HookSet {
    HookSet::standalone().config_file(config).unwrap_or_else(|e| panic!("{e}")).build().await.unwrap()
}

/// An event of claude and codebuddy.
fn flat(name: &str, mut fields: Value) -> Value {
    fields["hook_event_name"] = json!(name);
    fields["session_id"] = json!("s-1");
    fields
}

fn callback(name: &str, mut fields: Value) -> Value {
    fields["event"] = json!(name);
    fields["sessionId"] = json!("s-1");
    fields
}

fn line(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

fn reply(result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "result": result })
}

fn specific(name: &str, mut fields: Value) -> Value {
    fields["hookEventName"] = json!(name);
    json!({ "hookSpecificOutput": fields })
}

/// A denied tool in each dialect: claude, codebuddy, blade, blade-callback, picoclaw.
fn denials(reason: &str) -> [Value; 5] {
    let denied = specific("PreToolUse", json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }));
    let mut both = denied.clone();
    (both["decision"], both["reason"]) = (json!("block"), json!(reason));
    [
        denied.clone(),
        // decisions.md#the-real-codebuddy: "emit both that and the seed's `decision:"block"`".
        both,
        denied,
        // `skip` leaves out the call, because the dialect has no denial.
        json!({ "action": "skip", "reason": reason }),
        reply(json!({ "action": "deny_tool", "reason": reason })),
    ]
}

/// A call in the five dialects. Only picoclaw has another tool.
fn calls(tool: &str, [input, of_callback]: [Value; 2], (pico_tool, pico_input): (&str, Value)) -> [Value; 5] {
    let call = flat("PreToolUse", json!({ "tool_name": tool, "tool_input": input }));
    [
        call.clone(),
        call.clone(),
        call,
        callback("PreToolUse", json!({ "toolName": tool, "toolInput": of_callback })),
        line("hook.before_tool", json!({ "tool": pico_tool, "arguments": pico_input })),
    ]
}

const DIALECTS: [&str; 5] = ["claude", "codebuddy", "blade", "blade-callback", "picoclaw"];

fn specs(events: [Value; 5], expected: [Value; 5]) -> Vec<Row> {
    DIALECTS
        .into_iter()
        .zip(events)
        .zip(expected)
        .map(|((dialect, event), expect)| spec(dialect, event, expect))
        .collect()
}

#[tokio::test]
async fn command_guard() {
    let input = json!({ "command": "rm -rf /" });
    let events = calls("Bash", [input.clone(), input], ("exec", json!({ "action": "run", "command": "rm -rf /" })));
    let mut specs = specs(events, denials("`rm -rf` is not allowed here"));
    specs[3].lost = &["cannot say deny; it says skip"];
    check("command-guard", json!({ "authority": { "decide": ["deny"] } }), specs).await;
}

#[tokio::test]
async fn env_file_protector() {
    let inputs = [json!({ "file_path": "a/../.env" }), json!({ "filePath": "a/../.env" })];
    let events = calls("Write", inputs, ("write_file", json!({ "path": "a/../.env", "content": "" })));
    let mut specs = specs(events, denials("a/../.env is protected from changes"));
    specs[3].lost = &["cannot say deny; it says skip"];
    check("env-file-protector", json!({ "authority": { "decide": ["deny"] } }), specs).await;
}

#[tokio::test]
async fn secret_redactor() {
    let (secret, clean) = (json!({ "stdout": "SECRET_KEY=hunter2" }), json!({ "stdout": "SECRET_KEY=***" }));
    let told = "Secrets in the output that were replaced by ***: 1";
    let input = json!({ "command": "cat .env" });
    let claude = json!({ "tool_name": "Bash", "tool_input": input, "tool_response": secret });
    let blade = json!({ "tool_name": "Bash", "tool_input": input, "tool_output": secret });
    let by_callback = json!({ "toolName": "Bash", "toolInput": input, "toolOutput": secret });
    let pico = json!({ "tool": "exec", "arguments": input, "result": { "for_llm": "SECRET_KEY=hunter2" } });
    let mut blocked = specific("PostToolUse", json!({ "additionalContext": told }));
    blocked["decision"] = json!("block");
    blocked["reason"] = json!("a hook replaced the result, which this agent cannot do");
    let specs = vec![
        spec(
            "claude",
            flat("PostToolUse", claude.clone()),
            specific("PostToolUse", json!({ "updatedToolOutput": clean, "additionalContext": told })),
        ),
        // codebuddy cannot replace a result, so the model must not read it.
        spec("codebuddy", flat("PostToolUse", claude), blocked).loses(&["no place for a rewrite; it says deny"]),
        spec(
            "blade",
            flat("PostToolUse", blade),
            specific("PostToolUse", json!({ "updatedOutput": clean, "additionalContext": told })),
        ),
        spec(
            "blade-callback",
            callback("PostToolUse", by_callback),
            json!({ "action": "continue", "modifiedOutput": clean }),
        )
        .loses(&["no place for context"]),
        spec(
            "picoclaw",
            line("hook.after_tool", pico),
            reply(json!({ "action": "modify", "result": { "result": { "for_llm": "SECRET_KEY=***" } } })),
        )
        .loses(&["no place for context"]),
    ];
    check("secret-redactor", json!({ "authority": { "rewrite": "all", "context": true } }), specs).await;
}

#[tokio::test]
async fn path_rewriter() {
    let inputs = [json!({ "file_path": "/etc/hosts" }), json!({ "filePath": "/etc/hosts" })];
    let events = calls("Write", inputs, ("write_file", json!({ "path": "/etc/hosts", "content": "x" })));
    let moved = json!({ "file_path": "/sandbox/etc/hosts" });
    let allowed = specific("PreToolUse", json!({ "permissionDecision": "allow", "updatedInput": moved }));
    let call = json!({ "tool": "write_file", "arguments": { "path": "/sandbox/etc/hosts", "content": "x" } });
    let expected = [
        allowed.clone(),
        specific("PreToolUse", json!({ "updatedInput": moved })),
        allowed,
        json!({ "action": "continue", "modifiedInput": { "filePath": "/sandbox/etc/hosts" } }),
        reply(json!({ "action": "modify", "call": call })),
    ];
    let mut specs = specs(events, expected);
    // A dialect without `allow` has only the rewrite.
    for index in [1, 3, 4] {
        specs[index].lost = &["cannot say allow"];
    }
    let authority = json!({ "decide": ["allow"], "rewrite": ["/file_path", "/filePath", "/path"] });
    check("path-rewriter", json!({ "authority": authority, "config": { "prefix": "/sandbox" } }), specs).await;
}

#[tokio::test]
async fn context_injector() {
    let text = "Answer in English.";
    let told = specific("UserPromptSubmit", json!({ "additionalContext": text }));
    let prompt = flat("UserPromptSubmit", json!({ "prompt": "hello" }));
    let specs = vec![
        spec("claude", prompt.clone(), told.clone()),
        spec("codebuddy", prompt, told),
        spec(
            "blade",
            flat("UserPromptSubmit", json!({ "user_prompt": "hello" })),
            specific("UserPromptSubmit", json!({ "contextInjection": text })),
        ),
        spec(
            "blade-callback",
            callback("UserPromptSubmit", json!({ "message": "hello" })),
            json!({ "action": "continue" }),
        )
        .loses(&["no place for context"]),
        // picoclaw has no event for a prompt. The component does not export the nearest one.
        spec(
            "picoclaw",
            line("hook.before_llm", json!({ "model": "m", "messages": [] })),
            reply(json!({ "action": "continue" })),
        )
        .not_handled(),
    ];
    let config = json!({ "authority": { "context": true }, "config": { "prompt": text, "session": "Use tabs." } });
    check("context-injector", config.clone(), specs).await;

    let told = specific("SessionStart", json!({ "additionalContext": "Use tabs." }));
    let start = flat("SessionStart", json!({ "source": "startup" }));
    let specs = vec![
        spec("claude", start.clone(), told.clone()),
        // The specification does not have the event. It is a generic one, which the component does not export.
        spec("codebuddy", start.clone(), json!({})).not_handled(),
        spec("blade", start, told),
        spec("blade-callback", callback("SessionStart", json!({})), json!({ "action": "continue" }))
            .loses(&["no place for context"]),
        spec(
            "picoclaw",
            line("hook.before_llm", json!({ "model": "m", "messages": [] })),
            reply(json!({ "action": "continue" })),
        )
        .not_handled(),
    ];
    check("context-injector", config, specs).await;
}
