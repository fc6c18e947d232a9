use super::*;

#[test]
fn settings_without_effect_load_with_a_warning() {
    for (text, expected) in [
        (
            with_handler(r#"{"type":"mcp_tool","server":"a","tool":"b"}"#),
            "/hooks/PreToolUse/0/hooks/0: hookbox does not run handlers of type `mcp_tool`; this hook counts as failed; -",
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
            r#"{"hooks":{"BeforeTool":[]}}"#.into(),
            "/hooks/BeforeTool: claude has no event `BeforeTool`; this is the name under gemini; here the name is `PreToolUse`",
        ),
        (
            r#"{"hooks":{"pretooluse":[]}}"#.into(),
            "/hooks/pretooluse: claude has no event `pretooluse`; did you mean `PreToolUse`?",
        ),
        (
            r#"{"hooks":{"Stop":[{"matcher":"Bash","hooks":[]}]}}"#.into(),
            "/hooks/Stop/0/matcher: claude takes no matcher for Stop, so the hook runs every time; -",
        ),
        (
            r#"{"hooks":{"BrandNewEvent":[{"hooks":[{"type":"command","command":"x"}]}]}}"#.into(),
            "/hooks/BrandNewEvent/0/hooks/0: claude may have no event `BrandNewEvent`; its hooks run only if the client sends an event of this name",
        ),
        (
            r#"{"hooks":{"PreTool":[]}}"#.into(),
            "/hooks/PreTool: claude has no event `PreTool`; did you mean `PreToolUse`?",
        ),
        (r#"{"newSetting":1}"#.into(), "/newSetting: `newSetting` is not a setting of hookbox; -"),
        (
            with_handler(r#"{"type":"http","url":"http://a","headers":{"X":"$SECRET"}}"#),
            "/hooks/PreToolUse/0/hooks/0/headers/X: `SECRET` may not be read, so it is empty here; to allow it, add   \"allowedEnvVars\": [\"SECRET\"]",
        ),
    ] {
        assert!(parse_as("claude", &text).is_ok(), "{text}");
        assert_eq!(messages("claude", &text), [expected], "{text}");
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
        assert_eq!(messages("claude", &text), [""; 0], "{event}");
    }
}

#[test]
fn empty_matchers_cause_no_warning() {
    for matcher in ["", "*"] {
        let text = format!(r#"{{"hooks":{{"Stop":[{{"matcher":"{matcher}","hooks":[]}}]}}}}"#);
        assert_eq!(messages("claude", &text), [""; 0]);
    }
}

#[test]
fn matchers_on_events_without_one_depend_on_the_dialect() {
    let text = |event: &str| format!(r#"{{"hooks":{{"{event}":[{{"matcher":"startup","hooks":[]}}]}}}}"#);
    for (dialect, event, warned) in [
        ("claude", "PostToolUse", false),
        ("claude", "SessionStart", true),
        ("blade", "SessionStart", false),
        ("blade", "UserPromptSubmit", true),
        ("blade", "Stop", true),
        ("blade", "TaskCompleted", true),
    ] {
        let messages = messages(dialect, &text(event));
        assert_eq!(
            messages.iter().any(|line| line.contains("takes no matcher")),
            warned,
            "{dialect} {event} {messages:?}"
        );
    }
}

/// Each of these files is valid, but leaves a gate open.
#[test]
fn silently_open_gates_are_reported() {
    let matcher = |pattern: &str| {
        format!(r#"{{"failClosed":true,"hooks":{{"PreToolUse":[{{"matcher":"{pattern}","hooks":[]}}]}}}}"#)
    };
    let place = "/hooks/PreToolUse/0/matcher";
    for (dialect, pattern, expected) in [
        ("claude", "^mcp__", None),
        (
            "codebuddy",
            "^mcp__",
            Some(
                "has to match the whole name under codebuddy, not its beginning; to match all names with this beginning, write `mcp__.*`",
            ),
        ),
        (
            "blade",
            "^mcp__",
            Some(
                "has to match the whole name under blade, not its beginning; to match all names with this beginning, write `mcp__.*`",
            ),
        ),
        (
            "copilot",
            "^b",
            Some(
                "has to match the whole name under copilot, not its beginning; to match all names with this beginning, write `b.*`",
            ),
        ),
        ("blade", "^mcp__.*", None),
        ("blade", "^Bash$", None),
        (
            "blade",
            "Write | Edit",
            Some(
                "has blanks around `|`, but names have none, so it matches fewer names than intended; write `Write|Edit`",
            ),
        ),
        (
            "claude",
            "Write| Edit",
            Some(
                "has blanks around `|`, but names have none, so it matches fewer names than intended; write `Write|Edit`",
            ),
        ),
        (
            "claude",
            "Task",
            Some("names no tool of claude that hookbox knows, so it may match nothing; `Task` is `Agent` now"),
        ),
        ("claude", "Task|Agent", None),
        (
            "claude@observed",
            "bash",
            Some("names no tool of claude@observed that hookbox knows, so it may match nothing; did you mean `Bash`?"),
        ),
        ("claude", "Notebook.*", None),
        ("claude", "mcp__github__.*", None),
        ("gemini", "shell", None),
        ("copilot", "Task", None),
        ("blade", "Task", None),
    ] {
        let expected: Vec<String> = expected.iter().map(|rest| format!("{place}: `{pattern}` {rest}")).collect();
        let text = match dialect {
            "gemini" => matcher(pattern).replace("PreToolUse", "BeforeTool"),
            _ => matcher(pattern),
        };
        assert_eq!(messages(dialect, &text), expected, "{dialect} {pattern}");
    }
    // The warning about a name without resemblance lists the known ones.
    let messages = messages("gemini", &matcher("Frobnicate").replace("PreToolUse", "BeforeTool"));
    assert!(
        messages[0].contains("names no tool of gemini") && messages[0].contains("`run_shell_command`"),
        "{messages:?}"
    );
}

#[test]
fn milliseconds_read_as_seconds_are_reported() {
    let text = |group: &str, own: &str| {
        format!(
            r#"{{"failClosed":true,"hooks":{{"Stop":[{{{group}"hooks":[{{"type":"command","command":"x"{own}}}]}}]}}}}"#
        )
    };
    let expected = |place: &str| {
        format!(
            "{place}/timeout: a `timeout` of 5000 is in seconds here, but the client's documentation uses milliseconds; if milliseconds are meant, write `\"timeoutMs\": 5000`"
        )
    };
    let own = "/hooks/Stop/0/hooks/0";
    for (dialect, group, handler, place) in [
        ("codebuddy", r#""timeout":5000,"#, "", Some("/hooks/Stop/0")),
        ("codebuddy", "", r#","timeout":5000"#, Some(own)),
        ("codebuddy@observed", "", r#","timeout":5000"#, Some(own)),
        ("codebuddy", "", r#","timeout":599"#, None),
        ("codebuddy", "", r#","timeoutMs":5000"#, None),
        ("claude", "", r#","timeout":5000"#, None),
    ] {
        let expected: Vec<String> = place.into_iter().map(expected).collect();
        assert_eq!(messages(dialect, &text(group, handler)), expected, "{dialect} {group} {handler}");
    }
}

#[test]
fn a_gate_without_a_failure_policy_is_reported() {
    let opens = |place: &str, event: &str| {
        format!(
            "{place}: no failure policy applies, so `x` opens the gate on {event} when it fails; set `\"failClosed\": true` for the file, or `onFailure` for the hook: `block`, `ask` or `ignore`"
        )
    };
    let groups = |beside: &str, event: &str, own: &str| {
        format!(
            r#"{{{beside}"hooks":{{"{event}":[{{"hooks":[{{"type":"command","command":"x"{own}}},{{"type":"command","command":"y"{own}}}]}}]}}}}"#
        )
    };
    let place = |event: &str| format!("/hooks/{event}/0/hooks/0");
    for (dialect, text, expected) in [
        ("claude", groups("", "PreToolUse", ""), vec![opens(&place("PreToolUse"), "PreToolUse")]),
        ("blade", groups("", "PermissionRequest", ""), vec![opens(&place("PermissionRequest"), "PermissionRequest")]),
        (
            "blade",
            r#"{"canUseTool":{"type":"command","command":"x"}}"#.into(),
            vec![opens("/canUseTool", "canUseTool")],
        ),
        ("gemini", groups("", "BeforeTool", ""), vec![opens(&place("BeforeTool"), "BeforeTool")]),
        ("claude", groups("", "PreToolUse", r#","onFailure":"ignore""#), vec![]),
        ("claude", groups("", "PreToolUse", r#","mode":"monitor""#), vec![]),
        ("claude", groups(r#""failClosed":true,"#, "PreToolUse", ""), vec![]),
        ("claude", groups(r#""disableAllHooks":true,"#, "PreToolUse", ""), vec![]),
        ("claude", groups("", "PostToolUse", ""), vec![]),
        // There, failures block by default.
        ("copilot", groups("", "PreToolUse", ""), vec![]),
        ("picoclaw", r#"{"hooks":{"x":{"type":"command","command":"x","intercept":["approve_tool"]}}}"#.into(), vec![]),
        (
            "picoclaw",
            r#"{"hooks":{"x":{"type":"command","command":"x","intercept":["before_tool"]}}}"#.into(),
            vec![opens("/hooks/x", "hook.before_tool")],
        ),
    ] {
        assert_eq!(messages(dialect, &text), expected, "{dialect} {text}");
    }
}

/// blade.md#handlers: "`command` | `command`, `timeout`, `statusMessage`".
#[test]
fn client_settings_cause_no_warning() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","statusMessage":"checking"}]}]}}"#;
    assert_eq!(messages("blade", text), [""; 0]);
    assert_eq!(messages("claude", text).len(), 1);
}
