//! The generated tables in `docs/` are up to date. `UPDATE_DOCS=1` writes them again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fmt::Write, fs, path::Path};

use hookbox_protocol::{
    Cause, DecisionKind, Dialect, Event, EventContext, EventKind, Failure, FailurePolicy, HookOutput, ToolCall,
    degrade::{Degraded, becomes, degrade},
    dialect::{self, EventSpec},
    event::Input,
    failure::failed_output,
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
         told. If a dialect cannot express a decision, hookbox uses the nearest *safer* one, and a diagnostic reports it.\n\
         `stop` ends the turn or session; `—` is nothing: the event cannot be kept from happening, so the reason is kept\n\
         as context or message where the event has a place for it.\n\n",
    );
    for dialect in documented() {
        writeln!(text, "## {}\n", dialect.name()).unwrap();
        let words: Vec<&str> = DecisionKind::ALL.iter().map(|kind| kind.word()).collect();
        writeln!(text, "| event | {} |\n|---{}|", words.join(" | "), "|---".repeat(words.len())).unwrap();
        for spec in dialect.specs() {
            let cells: Vec<&str> = DecisionKind::ALL.iter().map(|kind| cell(spec, *kind)).collect();
            writeln!(text, "| {} | {} |", spec.name, cells.join(" | ")).unwrap();
            for (kind, cell) in DecisionKind::ALL.iter().zip(&cells) {
                assert!(safer(*kind, cell), "{} {}: {} becomes {cell}", dialect.name(), spec.name, kind.word());
            }
        }
        text.push('\n');
        if dialect.name() == "picoclaw" {
            text.push_str(&model_requests(dialect));
        }
    }
    current("degradation.md", &text);
}

/// Rewrites of a model request that newer clients undo, in the form of `PicoClaw` 0.2.8.
fn model_requests(dialect: &dyn Dialect) -> String {
    let (system, prompt, tool) = (json!({"role": "system"}), json!({"role": "user"}), json!({"type": "function"}));
    let params = json!({"context": {}, "messages": [system, prompt], "tools": [tool]});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "hook.before_llm", "params": params});
    let event = dialect.decode_event(line.to_string().as_bytes(), None).unwrap();
    let other = |value: &serde_json::Value| {
        let mut value = value.clone();
        value["content"] = "another".into();
        value
    };
    let mut text = String::from(
        "A rewrite of a request to the model, by PicoClaw 0.2.8 and later, which keep their system messages and tools:\n\n\
         | a hook | the client gets |\n|---|---|\n",
    );
    for (hook, updated) in [
        ("changes a message of the user", json!({"messages": [system, other(&prompt)]})),
        ("changes a system message", json!({"messages": [other(&system), prompt]})),
        ("takes a system message away", json!({"messages": [prompt]})),
        ("moves a system message", json!({"messages": [prompt, system]})),
        ("adds a system message", json!({"messages": [system, prompt, other(&system)]})),
        ("adds a tool", json!({"tools": [tool, other(&tool)]})),
        ("changes a tool", json!({"tools": [other(&tool)]})),
        ("takes a tool away", json!({"tools": []})),
    ] {
        let output = HookOutput { updated: Some(updated), ..HookOutput::default() };
        let outcome = dialect.merge(&event, &[output]);
        let wire = dialect.encode_outcome(&event, &outcome.output).unwrap();
        writeln!(text, "| {hook} | `{}` |", wire["result"]["action"].as_str().unwrap()).unwrap();
    }
    text.push('\n');
    text
}

fn cell(spec: &EventSpec, kind: DecisionKind) -> &'static str {
    match becomes(spec, kind) {
        Degraded::Decision(kind) => kind.word(),
        Degraded::Halt(_) => "stop",
        Degraded::Nothing => "—",
    }
}

/// Returns true unless a decision other than `allow` becomes `allow`.
fn safer(from: DecisionKind, to: &str) -> bool {
    to != "allow" || from == DecisionKind::Allow
}

#[test]
fn failures() {
    let causes: Vec<String> =
        Cause::ALL.iter().filter(|c| **c != Cause::Timeout).map(|c| format!("`{}`", c.word())).collect();
    let limits: Vec<String> = Cause::ALL.iter().filter(|c| c.is_limit()).map(|c| format!("`{}`", c.word())).collect();
    let mut text = format!(
        "# What a failed hook counts as\n\n\
         Generated from the code (`./just generate`). The response if the only hook of an event fails, by\n\
         behaviour: `onFailure` (`ignore`, `block`, `ask`) of the hook, or `failureBehavior` and `timeoutBehavior`\n\
         (`ignore`, `deny`, `ask`) under blade. The causes {}\n\
         count alike and follow `failureBehavior`; `timeout` follows `timeoutBehavior`. `CAUSE` stands for the cause and its\n\
         message. The behaviour a dialect starts from is in **bold**, and so are causes that start from another.\n\n\
         An event that cannot be read has failed with the cause `event` on every hook that is subscribed to its name and\n\
         tool, as far as these can be found. The row *cannot be read* is the response if that\n\
         blocks. The response is the same when the configuration is invalid and `failClosed` or `--fail-closed` is given. If\n\
         it does not block, stdout is empty, and the exit code is 65 (the event) or 78 (the configuration), 0 under\n\
         copilot and gemini, 1 under blade@observed.\n\n\
         *Limits of a gate*: where neither a behaviour nor `failClosed` is written, a component that may only hold back has\n\
         denied when one of its limits was used up: {}. So has a command with the cause `too-deep`.\n\n\
         A process that cannot start gives no response. With less address space (`ulimit -v`) or data (`ulimit -d`) than\n\
         the program itself needs (about 90 MB and 4 MB), the kernel or the loader ends it before its first instruction,\n\
         with the signal SIGSEGV or SIGABRT or exit code 127. Clients go on then. The entries that `hookbox install` writes\n\
         for a configuration that fails closed end in exit code 2 in this case too, where the client runs them in a shell.\n\n",
        causes.join(", "),
        limits.join(", ")
    );
    for dialect in documented() {
        writeln!(text, "## {}\n\n| event | behaviour | response |\n|---|---|---|", dialect.name()).unwrap();
        for spec in dialect.specs() {
            for (policy, word) in
                [(FailurePolicy::Ignore, "ignore"), (FailurePolicy::Deny, "deny"), (FailurePolicy::Ask, "ask")]
            {
                let told = told(dialect, spec, policy);
                let gate =
                    matches!(spec.kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool);
                let limits = if gate && policy == FailurePolicy::Deny { " (limits of a gate)" } else { "" };
                let word = format!("{}{limits}", started_from(dialect, spec, policy, word));
                writeln!(text, "| {} | {word} | {told} |", spec.name).unwrap();
            }
            writeln!(text, "| {} | cannot be read | {} |", spec.name, unread(dialect, spec)).unwrap();
        }
        text.push('\n');
    }
    current("failures.md", &text);
}

/// The policy in bold if it is the dialect's default, or with the causes for which it is the default.
fn started_from(dialect: &dyn Dialect, spec: &EventSpec, policy: FailurePolicy, word: &str) -> String {
    let causes = Cause::ALL.iter().filter(|cause| dialect.default_policy(spec.kind, **cause) == policy);
    let causes: Vec<String> = causes.map(|cause| format!("**{}**", cause.word())).collect();
    match causes.len() {
        0 => word.into(),
        few if few * 2 < Cause::ALL.len() => format!("{word} ({})", causes.join(", ")),
        _ => format!("**{word}**"),
    }
}

/// Describes the reply that blocks an event which cannot be read.
fn unread(dialect: &dyn Dialect, spec: &EventSpec) -> String {
    if !spec.blockable {
        return "nothing".into();
    }
    let told = dialect.fail_closed(br#"{"id":1,"#, Some(spec.name), "REASON");
    let words = told.stdout.map(|words| format!("`{words}`"));
    let reason = words.is_none().then(|| "the reason on stderr".to_owned());
    let code = told.exit.map(|code| format!("exit code {code}"));
    [words, code, reason].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The wire output for a failure, which must be the same for every cause.
fn told(dialect: &dyn Dialect, spec: &EventSpec, policy: FailurePolicy) -> String {
    let call = spec.kind.has_tool().then(|| ToolCall::new("Bash", json!({ "command": "ls" })));
    let mut event = Event::new(dialect, EventContext::default(), call, Input::empty(spec.kind));
    spec.name.clone_into(&mut event.name);
    let mut seen: Option<String> = None;
    for cause in Cause::ALL {
        let failure = Failure::new(*cause, "message");
        let (mut output, _) = failed_output(spec, "NAME", &failure, policy);
        degrade(spec, &mut output);
        let outcome = dialect.merge(&event, &[output]);
        let wire = dialect.encode_outcome(&event, &outcome.output).map_or("nothing".into(), |wire| format!("`{wire}`"));
        let wire = wire.replace(&failure.to_string(), "CAUSE");
        assert_eq!(*seen.get_or_insert_with(|| wire.clone()), wire, "{} {} {cause:?}", dialect.name(), spec.name);
        if policy == FailurePolicy::Deny && spec.blockable {
            assert!(
                wire.contains("NAME failed (CAUSE)"),
                "{} {}: {wire} does not name hook and cause",
                dialect.name(),
                spec.name
            );
        }
    }
    seen.unwrap_or_default()
}
