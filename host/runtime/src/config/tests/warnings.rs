use super::*;

#[test]
fn what_has_no_effect_is_told_and_loads() {
    for (text, expected) in [
        (
            with_handler(r#"{"type":"mcp_tool","server":"a","tool":"b"}"#),
            "/hooks/PreToolUse/0/hooks/0: handlers of type `mcp_tool` are not run by hookbox; this hook is left out; -",
        ),
        (
            with_handler(r#"{"type":"command","command":"x","async":true}"#),
            "/hooks/PreToolUse/0/hooks/0/async: `async` (in the background) is not used by hookbox; -",
        ),
        (
            r#"{"hooks":{"PreToolUs":[]}}"#.into(),
            "/hooks/PreToolUs: claude has no event `PreToolUs`; did you mean `PreToolUse`?",
        ),
        (
            r#"{"hooks":{"pretooluse":[]}}"#.into(),
            "/hooks/pretooluse: claude has no event `pretooluse`; did you mean `PreToolUse`?",
        ),
        (
            r#"{"hooks":{"Stop":[{"matcher":"Bash","hooks":[]}]}}"#.into(),
            "/hooks/Stop/0/matcher: claude takes no matcher for Stop, so the hook runs every time; -",
        ),
        (r#"{"newSetting":1}"#.into(), "/newSetting: `newSetting` means nothing to hookbox; -"),
        (
            with_handler(r#"{"type":"http","url":"http://a","headers":{"X":"$SECRET"}}"#),
            "/hooks/PreToolUse/0/hooks/0/headers/X: `SECRET` may not be read, so it is empty here; to allow it, add   \"allowedEnvVars\": [\"SECRET\"]",
        ),
    ] {
        assert!(parse_as("claude", &text).is_ok(), "{text}");
        assert_eq!(told("claude", &text), [expected], "{text}");
    }
}

#[test]
fn events_of_real_clients_are_not_called_typos() {
    let events = [
        "PostToolBatch",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "StopFailure",
        "SubagentStart",
        "TaskCreated",
        "TaskCompleted",
        "Setup",
        "UserPromptExpansion",
        "PermissionDenied",
        "ConfigChange",
        "FinalStop",
        "WorktreeCreate",
    ];
    for event in events {
        let text = format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{{"type":"command","command":"x"}}]}}]}}}}"#);
        assert_eq!(told("claude", &text), [""; 0], "{event}");
    }
}

#[test]
fn matchers_that_say_nothing_are_not_worth_a_warning() {
    for matcher in ["", "*"] {
        let text = format!(r#"{{"hooks":{{"Stop":[{{"matcher":"{matcher}","hooks":[]}}]}}}}"#);
        assert_eq!(told("claude", &text), [""; 0]);
    }
}

#[test]
fn what_takes_no_matcher_is_the_dialects_to_say() {
    let text = |event: &str| format!(r#"{{"hooks":{{"{event}":[{{"matcher":"startup","hooks":[]}}]}}}}"#);
    for (dialect, event, warned) in [
        ("claude", "PostToolUse", false),
        ("claude", "SessionStart", true),
        ("blade", "SessionStart", false),
        ("blade", "UserPromptSubmit", true),
        ("blade", "Stop", true),
        ("blade", "TaskCompleted", true),
    ] {
        assert_eq!(told(dialect, &text(event)).len(), usize::from(warned), "{dialect} {event}");
    }
}
