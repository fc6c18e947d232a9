use super::*;

/// The pointer, events, matcher text and `observe_only` of each hook.
fn summary(config: &Config) -> Vec<(String, String, Option<String>, bool)> {
    let row = |h: &Hook| (h.pointer.clone(), h.events.join(" "), h.matcher_text.clone(), h.observe_only);
    config.hooks.iter().map(row).collect()
}

fn row(pointer: &str, events: &str, matcher: Option<&str>, messages: bool) -> (String, String, Option<String>, bool) {
    (pointer.into(), events.into(), matcher.map(Into::into), messages)
}

#[test]
fn groups() {
    let text = r#"{ "canUseTool": { "type": "wasm", "component": "gate.wasm" }, "hooks": {
        "enabled": true, "maxConcurrentHooks": 2,
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "a" }, { "type": "command", "command": "b" }] },
            { "hooks": [{ "type": "command", "command": "c" }] } ],
        "Notification": [{ "hooks": [{ "type": "command", "command": "d" }] }] } }"#;
    let config = load("blade", text);
    assert_eq!((config.enabled, config.max_concurrent), (true, Some(2)));
    assert_eq!(
        summary(&config),
        [
            row("/hooks/PreToolUse/0/hooks/0", "PreToolUse", Some("Bash"), false),
            row("/hooks/PreToolUse/0/hooks/1", "PreToolUse", Some("Bash"), false),
            row("/hooks/PreToolUse/1/hooks/0", "PreToolUse", None, false),
            row("/hooks/Notification/0/hooks/0", "Notification", None, false),
            row("/canUseTool", "canUseTool", None, false),
        ]
    );
    assert!(!load("claude", r#"{"hooks":{"enabled":false}}"#).enabled);
}

#[test]
fn matchers_that_look_at_the_call() {
    let text = |matcher: &str| {
        format!(
            r#"{{ "hooks": {{ "PreToolUse": [{{ "matcher": {matcher}, "hooks": [{{ "type": "command", "command": "a" }}] }}] }} }}"#
        )
    };
    let config = load("blade@observed", &text(r#"{ "tools": ["Bash", "Write"], "commands": "rm.*" }"#));
    let written = r#"{"tools":["Bash","Write"],"commands":"rm.*"}"#;
    assert_eq!(summary(&config), [row("/hooks/PreToolUse/0/hooks/0", "PreToolUse", Some(written), false)]);
    let bad = messages("blade@observed", &text(r#"{ "paths": ["a", "b("] }"#));
    assert!(bad[0].starts_with("/hooks/PreToolUse/0/matcher/paths/1: "), "{bad:?}");
    let unknown = messages("blade@observed", &text(r#"{ "tool": "Bash" }"#));
    assert!(unknown[0].starts_with("/hooks/PreToolUse/0/matcher"), "{unknown:?}");
    let elsewhere = text(r#"{ "tools": "Bash" }"#).replace("PreToolUse", "Stop");
    assert!(messages("blade@observed", &elsewhere)[0].contains("takes no matcher for Stop"));
}

#[test]
fn configurations_are_flat_or_in_groups() {
    let text = r#"{ "version": 1, "hooks": {
        "preToolUse": [
            { "bash": "a", "powershell": "b", "cwd": "s b", "env": { "A": "1" }, "timeoutSec": 7, "matcher": "bash" },
            { "type": "command", "exec": "./c", "args": ["x"] } ],
        "PostToolUse": [
            { "matcher": "Edit", "hooks": [{ "type": "command", "command": "d" }, { "type": "wasm", "component": "e.wasm" }] } ] } }"#;
    let config = load("copilot", text);
    assert_eq!(
        summary(&config),
        [
            row("/hooks/preToolUse/0", "preToolUse", Some("bash"), false),
            row("/hooks/preToolUse/1", "preToolUse", None, false),
            row("/hooks/PostToolUse/0/hooks/0", "PostToolUse", Some("Edit"), false),
            row("/hooks/PostToolUse/0/hooks/1", "PostToolUse", Some("Edit"), false),
        ]
    );
    let Handler::Command { command, args: None, .. } = &config.hooks[0].handler else { panic!() };
    assert_eq!(command, "cd -- 's b' || exit 1\nexport A='1'\na");
    let Handler::Command { command, args: Some(args), .. } = &config.hooks[1].handler else { panic!() };
    assert_eq!((command.as_str(), args.as_slice()), ("./c", &["x".to_owned()][..]));
    // copilot.md#configuration: "seconds; default: 30". A component has hookbox's default timeout.
    let seconds: Vec<u64> = config.hooks.iter().map(|hook| hook.timeout.as_secs()).collect();
    assert_eq!(seconds, [7, 30, 30, 60]);
    // Errors point at the file as written.
    let wrong = r#"{ "failClosed": true, "hooks": { "preToolUse": [{ "bash": "a", "timeoutSec": "7", "comand": "x" }],
        "stop/er": [{ "hooks": [{ "bash": 5 }] }] } }"#;
    let mut places: Vec<String> =
        messages("copilot", wrong).iter().map(|messages| messages.split(':').next().unwrap().to_owned()).collect();
    places.sort();
    assert_eq!(
        places,
        ["/hooks/preToolUse/0/comand", "/hooks/preToolUse/0/timeoutSec", "/hooks/stop~1er/0/hooks/0/bash"]
    );
    let codex = load("codex", r#"{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "a" }] }] } }"#);
    assert_eq!(codex.hooks[0].timeout.as_secs(), 600);
}

#[test]
fn flat() {
    let text = r#"{ "hooks": {
        "PreToolUse": [{ "type": "wasm", "component": "a.wasm" }, { "matcher": "Bash", "type": "command", "command": "b" }] } }"#;
    assert_eq!(
        summary(&load("blade-callback", text)),
        [
            row("/hooks/PreToolUse/0", "PreToolUse", None, false),
            row("/hooks/PreToolUse/1", "PreToolUse", Some("Bash"), false)
        ]
    );
    assert_eq!(
        messages("blade-callback", r#"{"hooks":{"PreToolUse":[{"type":"wasm","component":"a","hooks":[]}]}}"#)[0]
            .split(';')
            .next(),
        Some("/hooks/PreToolUse/0/hooks: unknown key `hooks`")
    );
}

#[test]
fn named() {
    let text = r#"{ "hooks": {
        "late": { "priority": 20, "intercept": ["before_tool", "approve_tool"], "type": "wasm", "component": "late.wasm" },
        "b": { "priority": 10, "observe": ["tool_exec_start", "turn_end"], "type": "wasm", "component": "b.wasm" },
        "a": { "priority": 10, "intercept": ["before_llm"], "observe": ["*"], "type": "command", "command": "a" },
        "all": { "priority": -1, "type": "wasm", "component": "all.wasm" },
        "off": { "enabled": false, "type": "wasm", "component": "off.wasm" } } }"#;
    let config = load("picoclaw", text);
    assert_eq!(
        summary(&config),
        [
            row("/hooks/all", "", None, false),
            row("/hooks/a", "hook.before_llm", None, false),
            row("/hooks/a", "hook.event hook.runtime_event", Some("*"), true),
            row("/hooks/b", "hook.event hook.runtime_event", Some("tool_exec_start|turn_end"), true),
            row("/hooks/late", "hook.before_tool hook.approve_tool", None, false),
        ]
    );
    assert_eq!(config.hooks[4].name, "late");
    assert!(config.hooks[3].matcher.matches(Some("turn_end")) && !config.hooks[3].matcher.matches(Some("turn_start")));
}

#[test]
fn named_warnings() {
    assert_eq!(
        messages("blade", r#"{"hooks":{"PreCompact":[]}}"#),
        [
            "/hooks/PreCompact: blade has no event `PreCompact`; this is the name under claude; here the name is `Compaction`"
        ]
    );
}

/// A hook that is never called protects nothing, so unknown words are errors.
#[test]
fn unknown_words_are_errors() {
    for (word, expected) in [
        (
            r#""intercept":["before_tol"]"#,
            "/hooks/a/intercept/0: picoclaw never asks about `before_tol`; did you mean `before_tool`?",
        ),
        (
            r#""observe":["tool_exec_strat"]"#,
            "/hooks/a/observe/0: picoclaw has no kind of event `tool_exec_strat`; did you mean `tool_exec_start`?",
        ),
        (
            r#""observe":["*","agent.tool.exec"]"#,
            "/hooks/a/observe/1: picoclaw has no kind of event `agent.tool.exec`; did you mean `tool_exec_end`?",
        ),
    ] {
        let text = format!(r#"{{"hooks":{{"a":{{"type":"command","command":"x",{word}}}}}}}"#);
        assert!(parse_as("picoclaw", &text).is_err(), "{text}");
        assert_eq!(messages("picoclaw", &text), [expected], "{text}");
    }
    for kind in ["tool.*", "tool|agent", "Turn_Start", ""] {
        let text = format!(r#"{{"hooks":{{"a":{{"type":"command","command":"x","observe":["{kind}"]}}}}}}"#);
        assert!(parse_as("picoclaw", &text).is_err(), "{text}");
    }
    let text = r#"{"hooks":{"a":{"type":"command","command":"x","intercept":["hook.before_compact"],"observe":["gateway.ready","agent.turn.start","*"]}}}"#;
    assert!(parse_as("picoclaw", text).is_ok());
}

#[test]
fn processes_as_picoclaw_has_them() {
    let text = r#"{ "limits": { "fuel": 1 }, "hooks": {
        "gate": { "enabled": true, "priority": 100, "transport": "stdio", "command": ["python3", "gate.py"], "dir": "gates",
            "observe": ["turn_start"], "intercept": ["before_tool", "approve_tool"], "env": { "LOG": "a" } },
        "timed": { "type": "process", "command": ["x"], "intercept": ["before_tool"], "timeout": 9, "approvalTimeout": 30 } } }"#;
    let config = load("picoclaw", text);
    let Handler::Process(gate) = &config.hooks[1].handler else { panic!() };
    assert_eq!((gate.command.join(" ").as_str(), gate.env["LOG"].as_str()), ("python3 gate.py", "a"));
    assert!(gate.dir.ends_with("gates") && gate.start.as_secs() == 5, "{gate:?}");
    // One process with two entries: one that decides and one that is notified.
    assert!(matches!(&config.hooks[2].handler, Handler::Process(other) if other == gate));
    let stages = |hook: &Hook| {
        use hookbox_protocol::EventKind::{AgentEvent, PermissionRequest, PreToolUse};
        [AgentEvent, PreToolUse, PermissionRequest].map(|kind| hook.timeout_on(kind).as_millis())
    };
    assert_eq!(stages(&config.hooks[2]), [500, 5_000, 60_000]);
    let timed = config.hooks.iter().find(|hook| hook.name == "timed").unwrap();
    assert_eq!((stages(timed), timed.timeout_given), ([9_000, 9_000, 30_000], true));
    assert_eq!(
        messages("picoclaw", r#"{"hooks":{"a":{"command":[],"intercept":["before_tool"]}}}"#),
        [
            "/hooks/a/command: expected an executable, found an empty array; name it, and its arguments after it: `[\"python3\", \"hook.py\"]`"
        ]
    );
}

#[test]
fn groups_as_gemini_has_them() {
    let text = r#"{ "general": {}, "hooks": {
        "BeforeTool": [
            { "matcher": "shell", "sequential": true, "hooks": [
                { "type": "command", "command": "a", "name": "guard", "timeout": 5000 },
                { "type": "command", "command": "b", "timeoutMs": 250 } ] },
            { "hooks": [{ "type": "command", "command": "c" }] } ],
        "SessionStart": [{ "matcher": "start", "hooks": [{ "type": "command", "command": "d" }] }] } }"#;
    let config = load("gemini", text);
    let seconds: Vec<f64> = config.hooks.iter().map(|hook| hook.timeout.as_secs_f64()).collect();
    assert_eq!(seconds, [5.0, 0.25, 60.0, 60.0]);
    let names: Vec<&str> = config.hooks.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(names, ["guard", "b", "c", "d"]);
    let sequential: Vec<bool> = config.hooks.iter().map(|hook| hook.sequential).collect();
    assert_eq!(sequential, [true, true, false, false]);
    assert!(config.hooks[0].matcher.matches(Some("run_shell_command")));
    assert!(!config.hooks[3].matcher.matches(Some("startup")));
    assert!(!load("gemini", r#"{"hooksConfig":{"enabled":false},"hooks":{}}"#).enabled);
}

/// decisions.md#picoclaw: "The client's own `hooks` object is valid as it is".
#[test]
fn the_hooks_of_a_picoclaw_configuration_load() {
    let text = r#"{ "dialect": "picoclaw", "version": 2, "agents": { "defaults": {} }, "channels": {}, "gateway": {}, "hooks": {
        "enabled": true,
        "defaults": { "observer_timeout_ms": 500, "interceptor_timeout_ms": 2500, "approval_timeout_ms": 0 },
        "builtins": { "example_logger": { "enabled": true, "priority": 10, "config": { "log_events": true } },
            "off": { "config": {} } },
        "processes": {
            "py_review_gate": { "enabled": true, "priority": 100, "transport": "stdio",
                "command": ["python3", "/abs/path/to/review_gate.py"], "dir": "gates",
                "observe": ["tool_exec_start", "tool_exec_end"], "intercept": ["before_tool", "approve_tool"],
                "env": { "PICOCLAW_HOOK_LOG_FILE": "/tmp/log" } },
            "all": { "enabled": true, "command": ["x"], "observe": ["all"] },
            "off": { "enabled": false, "command": ["y"], "intercept": ["before_tool"] } },
        "ours": { "priority": 5, "type": "process", "command": ["z"], "intercept": ["before_tool"], "interceptorTimeout": 1 } } }"#;
    let config = load("picoclaw", text);
    assert_eq!(
        summary(&config),
        [
            row("/hooks/processes/all", "hook.event hook.runtime_event", Some("all"), true),
            row("/hooks/ours", "hook.before_tool", None, false),
            row("/hooks/builtins/example_logger", "", None, false),
            row("/hooks/processes/py_review_gate", "hook.approve_tool hook.before_tool hook.after_tool", None, false),
            row(
                "/hooks/processes/py_review_gate",
                "hook.event hook.runtime_event",
                Some("tool_exec_start|tool_exec_end"),
                true
            ),
        ]
    );
    assert!(config.enabled && config.hooks[0].matcher.matches(Some("turn_end")));
    let stages = |hook: &Hook| {
        use hookbox_protocol::EventKind::{AgentEvent, PermissionRequest, PreToolUse};
        [AgentEvent, PreToolUse, PermissionRequest].map(|kind| hook.timeout_on(kind).as_millis())
    };
    assert_eq!(stages(&config.hooks[3]), [500, 2_500, 60_000]);
    assert_eq!(stages(&config.hooks[1]), [500, 1_000, 60_000]);
    assert!(matches!(config.hooks[2].handler, Handler::LeftOut { kind: "builtin" }));
    let warned = messages("picoclaw", text);
    let builtin = &warned[0];
    assert!(
        builtin.starts_with("/hooks/builtins/example_logger: hookbox does not run handlers of type `builtin`"),
        "{warned:?}"
    );
    assert!(builtin.contains("if PicoClaw itself runs it"), "{warned:?}");
    assert!(!warned.iter().any(|messages| messages.contains("is not a setting")), "{warned:?}");

    assert!(!load("picoclaw", r#"{"hooks":{"enabled":false,"processes":{}}}"#).enabled);
    for (hooks, expected) in [
        (r#""processes":{"a":{"command":["x"]}}"#, "/hooks/processes/a: hookbox runs a hook process without `enabled`"),
        (r#""processes":{"a":{"enabled":true}}"#, "/hooks/processes/a: missing key `command`"),
        (r#""processes":{"a":{"enabled":true,"comand":["x"]}}"#, "/hooks/processes/a/comand: unknown key"),
        (
            r#""processes":{"a":{"enabled":true,"command":["x"],"transport":"http"}}"#,
            "/hooks/processes/a/transport: unknown word `http`",
        ),
        (r#""defaults":{"interceptor_timeout":1}"#, "/hooks/defaults/interceptor_timeout: unknown key"),
        (r#""defaults":{"interceptor_timeout_ms":"5"}"#, "/hooks/defaults/interceptor_timeout_ms: expected a number"),
        (
            r#""a":{"command":["x"]},"processes":{"a":{"enabled":true,"command":["x"]}}"#,
            "/hooks/a: duplicate hook name `a`",
        ),
    ] {
        let found = messages("picoclaw", &format!(r#"{{"hooks":{{{hooks}}}}}"#));
        assert!(found.iter().any(|found| found.starts_with(expected)), "{hooks}: {found:?}");
    }
}
