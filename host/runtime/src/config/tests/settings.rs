use hookbox_protocol::authority::{Power, Rewrite};

use super::*;
use hookbox_sandbox::permission::StateGrant;

/// The settings file of a Claude Code user, with everything that hookbox does not use.
const SETTINGS: &str = r#"{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "apiKeyHelper": "/bin/generate_temp_api_key.sh",
  "cleanupPeriodDays": 20,
  "env": { "CLAUDE_CODE_ENABLE_TELEMETRY": "1" },
  "includeCoAuthoredBy": false,
  "model": "opus",
  "permissions": { "allow": ["Bash(npm run lint)"], "deny": ["Read(./.env)"], "defaultMode": "acceptEdits" },
  "statusLine": { "type": "command", "command": "~/.claude/statusline.sh" },
  "enabledPlugins": { "formatter@tools": true },
  "enableAllProjectMcpServers": true,
  "sandbox": { "enabled": true },
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/check.sh", "timeout": 10 }] },
      { "matcher": "Write|Edit", "hooks": [{ "type": "command", "command": "lint", "args": ["--fix"], "timeoutMs": 1500 }] }
    ],
    "SessionStart": [{ "hooks": [{ "type": "command", "command": "context.sh" }] }],
    "PostCompact": [{ "hooks": [{ "type": "prompt", "prompt": "Fine? $ARGUMENTS", "model": "haiku" }] }],
    "Stop": [{ "matcher": "", "hooks": [{ "type": "agent", "prompt": "Done? $ARGUMENTS", "timeout": 120 }] }]
  }
}"#;

#[test]
fn a_real_settings_file_loads_with_one_warning_about_its_gate() {
    let loaded = parse_as("claude", SETTINGS).unwrap();
    let messages: Vec<_> = loaded.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(matches!(messages[..], [one] if one.starts_with("no failure policy applies")), "{messages:?}");
    let hooks: Vec<_> = loaded.config.hooks.iter().map(|h| (h.events[0].as_str(), h.timeout.as_millis())).collect();
    assert_eq!(
        hooks,
        [
            ("PreToolUse", 10_000),
            ("PreToolUse", 1_500),
            ("SessionStart", 60_000),
            ("PostCompact", 60_000),
            ("Stop", 120_000)
        ]
    );
    let Handler::Command { command, args, dir } = &loaded.config.hooks[1].handler else { panic!() };
    assert_eq!(
        (command.as_str(), args.as_deref(), dir.as_path()),
        ("lint", Some(&["--fix".to_owned()][..]), Path::new("/project"))
    );
    assert!(matches!(&loaded.config.hooks[4].handler, Handler::Agent { max_turns: 10, .. }));
}

#[test]
fn a_component_gets_exactly_its_grants() {
    let text = with_handler(
        r#"{ "type": "wasm", "component": "hooks/guard.wasm",
            "permissions": { "state": true, "llm": false, "http": ["https://api.example.com:8443"], "read": { "/src": "src" } },
            "authority": { "decide": ["deny", "ask"], "rewrite": ["/command"] },
            "limits": { "fuel": 7 },
            "config": { "pattern": "rm -rf" } }"#,
    );
    let text = text.replacen('{', r#"{ "limits": { "memoryMiB": 8, "fuel": 9 }, "#, 1);
    let config = load("claude", &text);
    let hook = &config.hooks[0];
    let Handler::Wasm(wasm) = &hook.handler else { panic!() };
    assert_eq!(hook.name, "guard.wasm");
    assert_eq!(hook.pointer, "/hooks/PreToolUse/0/hooks/0");
    assert_eq!(wasm.component, Path::new("/project/hooks/guard.wasm"));
    assert_eq!(wasm.permissions.state, Some(StateGrant::Enabled(true)));
    assert_eq!(wasm.permissions.llm, None);
    assert_eq!(wasm.permissions.read["/src"], "/project/src");
    let authority = hook.authority.as_ref().unwrap();
    assert_eq!(authority.decide, [Power::Deny, Power::Ask]);
    assert_eq!(authority.rewrite, Rewrite::Only(vec!["/command".into()]));
    assert!(!authority.context && !authority.system_message);
    assert_eq!((wasm.limits.fuel, wasm.limits.memory_mib, wasm.limits.host_calls), (7, 8, 10_000));
    assert_eq!(wasm.config["pattern"], "rm -rf");
}

/// State belongs to a component's path, which the configuration sets, not to its file name, which its author chooses.
#[test]
fn components_of_one_file_name_are_not_one_owner() {
    let hook = |component: &str| format!(r#"{{ "type": "wasm", "component": "{component}" }}"#);
    let owners = |dialect: &str, text: &str| -> Vec<String> {
        let owner = |hook: &Hook| match &hook.handler {
            Handler::Wasm(wasm) => wasm.owner.clone(),
            other => panic!("{other:?}"),
        };
        load(dialect, text).hooks.iter().map(owner).collect()
    };
    let [own, same, other] = ["hooks/guard.wasm", "./hooks/guard.wasm", "vendor/guard.wasm"].map(hook);
    let text = with_handler(&format!("{own}, {same}, {other}"));
    assert_eq!(owners("claude", &text), ["hooks/guard.wasm", "hooks/guard.wasm", "vendor/guard.wasm"]);
    let named = format!(r#"{{ "hooks": {{ "first": {own}, "second": {own} }} }}"#);
    assert_eq!(owners("picoclaw", &named), ["first", "second"]);
}

#[test]
fn a_component_is_a_gate_by_default() {
    for (written, expected) in [
        ("", Authority::gate()),
        (r#", "authority": "gate""#, Authority::gate()),
        (r#", "authority": "rewriter""#, Authority::rewriter()),
        (r#", "authority": "trusted""#, Authority::trusted()),
    ] {
        let config = load("claude", &with_handler(&format!(r#"{{ "type": "wasm", "component": "a.wasm"{written} }}"#)));
        assert_eq!(config.hooks[0].bounds(), Some(expected), "{written}");
    }
    // A client's own types of handlers may decide what the client lets them decide.
    for (handler, expected) in [
        (r#"{ "type": "command", "command": "x" }"#, None),
        (r#"{ "type": "http", "url": "https://a" }"#, Some(Authority::trusted())),
        (r#"{ "type": "http", "url": "https://a", "authority": "gate" }"#, Some(Authority::gate())),
        (r#"{ "type": "prompt", "prompt": "p" }"#, Some(Authority::trusted())),
    ] {
        assert_eq!(load("claude", &with_handler(handler)).hooks[0].bounds(), expected, "{handler}");
    }
}

#[test]
fn the_nearest_timeout_wins() {
    for (limits, default, group, own, expected) in [
        ("", "", "", "", 60.0),
        (r#""limits":{"timeout":5},"#, "", "", "", 5.0),
        (r#""limits":{"timeout":5},"#, r#""defaultTimeout":4,"#, "", "", 4.0),
        (r#""limits":{"timeout":5},"#, r#""defaultTimeout":4,"#, r#""timeout":3,"#, "", 3.0),
        (r#""limits":{"timeout":5},"#, r#""defaultTimeout":4,"#, r#""timeoutMs":2500,"#, "", 2.5),
        (r#""limits":{"timeout":5},"#, r#""defaultTimeout":4,"#, r#""timeout":3,"#, r#","timeout":0.25"#, 0.25),
    ] {
        let text = format!(
            r#"{{{limits}"hooks":{{{default}"Stop":[{{{group}"hooks":[{{"type":"command","command":"x"{own}}}]}}]}}}}"#
        );
        assert_eq!(load("claude", &text).hooks[0].timeout, Duration::from_secs_f64(expected), "{text}");
    }
}

#[test]
fn a_large_event_has_more_time_unless_it_is_written() {
    let wire = format!(r#"{{"hook_event_name":"Stop","x":"{}"}}"#, "x".repeat(2 << 20));
    for (dialect, handler, seconds) in [
        ("claude", r#"{"type":"wasm","component":"a"}"#, 62),
        ("claude", r#"{"type":"wasm","component":"a","timeout":60}"#, 60),
        ("claude", r#"{"type":"wasm","component":"a","limits":{"timeout":60}}"#, 60),
        ("claude", r#"{"type":"command","command":"x"}"#, 60),
    ] {
        let config = load(dialect, &with_handler(handler));
        let event = config.dialect.decode_event(wire.as_bytes(), None).unwrap();
        assert_eq!(config.hooks[0].time_for(&event).as_secs(), seconds, "{handler}");
    }
}

#[test]
fn behaviors_come_from_the_handler_then_the_file() {
    use FailurePolicy::{Ask, Deny, Ignore};
    for (beside, defaults, own, on_failure, on_timeout) in [
        ("", "", "", None, None),
        ("", "", r#","onFailure":"block""#, Some(Deny), Some(Deny)),
        ("", "", r#","onFailure":"block","onTimeout":"ask""#, Some(Deny), Some(Ask)),
        ("", r#""failureBehavior":"deny","#, "", Some(Deny), None),
        (r#""failClosed":true,"#, r#""failureBehavior":"ask","#, "", Some(Ask), None),
        ("", r#""timeoutBehavior":"ask","#, "", None, Some(Ask)),
        (
            "",
            r#""failureBehavior":"deny","timeoutBehavior":"ask","#,
            r#","onFailure":"ignore""#,
            Some(Ignore),
            Some(Ignore),
        ),
    ] {
        let text = format!(
            r#"{{{beside}"hooks":{{{defaults}"Stop":[{{"hooks":[{{"type":"command","command":"x"{own}}}]}}]}}}}"#
        );
        let hook = &load("blade", &text).hooks[0];
        assert_eq!((hook.on_failure, hook.on_timeout), (on_failure, on_timeout), "{text}");
    }
}

#[test]
fn headers_use_only_allowed_variables() {
    let path = std::env::var("PATH").unwrap();
    let text = with_handler(
        r#"{"type":"http","url":"http://a","headers":{"A":"x $PATH","B":"${PATH}y","C":"5 $ off"},"allowedEnvVars":["PATH"]}"#,
    );
    let loaded = parse_as("claude", &text).unwrap();
    assert_eq!(loaded.warnings, []);
    let Handler::Http { headers, .. } = &loaded.config.hooks[0].handler else { panic!() };
    let values: Vec<_> = headers.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, [format!("x {path}"), format!("{path}y"), "5 $ off".into()]);
}

#[test]
fn host_settings_are_resolved() {
    let text = r#"{"failClosed":true,"host":{"tenant":"a","stateFile":"state.db","maxInstances":3}}"#;
    let config = load("claude", text);
    assert!(config.fail_closed && config.enabled);
    assert_eq!(config.settings.state_file.as_deref(), Some("/project/state.db"));
    assert_eq!(config.settings.max_instances, Some(3));
    assert_eq!(config.digest.len(), 64);
    assert!(!load("claude", r#"{"disableAllHooks":true}"#).enabled);
}

#[test]
fn the_file_of_a_project_is_found() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(find(dir.path()), None);
    for name in [".claude/settings.json", "hooks.json"] {
        let file = dir.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "{}").unwrap();
        assert_eq!(find(dir.path()), Some(file.clone()));
        assert!(Config::load(&file, None).is_ok());
    }
}
