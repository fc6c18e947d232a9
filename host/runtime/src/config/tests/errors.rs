use super::*;

const HANDLER: &str = "/hooks/PreToolUse/0/hooks/0";

#[test]
fn a_typo_is_shown_with_its_place_and_the_nearest_key() {
    let text = "{\n \"hooks\": {\n  \"PreToolUse\": [\n   {\n    \"hooks\": [],\n\n    \"mathcer\": \"Bash\"\n   }\n  ]\n }\n}";
    assert_eq!(
        Config::parse(text, Path::new("hooks.json"), None).unwrap_err().to_string(),
        "error: unknown key `mathcer`\n   hooks.json  /hooks/PreToolUse/0/mathcer   (line 7)\n   did you mean `matcher`?"
    );
}

#[test]
fn text_that_is_not_json_is_shown_with_line_and_column() {
    for (text, line, message) in [
        ("{\n \"hooks\": {},\n}", 3, "not valid JSON: expected a key in quotes at line 3 column 1"),
        ("{\"hooks\":{},\n\"hooks\":{}}", 2, "not valid JSON: key `hooks` appears twice at line 2 column 8"),
        ("", 1, "not valid JSON: the text ends too early at line 1 column 1"),
    ] {
        let errors = parse_as("claude", text).unwrap_err().diagnostics;
        assert_eq!((errors[0].line, errors[0].message.as_str()), (Some(line), message));
    }
}

#[test]
fn an_unreadable_file_is_an_error_with_its_cause() {
    let errors = Config::load(Path::new("/nowhere/hooks.json"), None).unwrap_err();
    assert_eq!(errors.diagnostics[0].help.as_deref(), Some("create the file, or name another one"));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hooks.json");
    std::fs::write(&file, b"{\"a\":\"\xff\"}").unwrap();
    let errors = Config::load(&file, None).unwrap_err();
    assert_eq!(errors.diagnostics[0].message, "not UTF-8: byte 6 starts no character");
}

#[test]
fn all_errors_at_once_in_the_order_of_the_file() {
    let text = r#"{
        "limits": { "fule": 1 },
        "hooks": { "PreToolUse": [
            { "matcher": "[", "hooks": [{ "type": "comand", "command": "x" }] },
            { "hooks": [{ "type": "wasm" }, { "type": "command", "command": "x", "timeout": 0 }] }
        ] },
        "failclosed": true
    }"#;
    let errors = parse_as("claude", text).unwrap_err().diagnostics;
    let messages: Vec<_> = errors.iter().map(|e| (e.line.unwrap(), e.pointer.as_str())).collect();
    assert_eq!(
        messages,
        [
            (2, "/limits/fule"),
            (4, "/hooks/PreToolUse/0/hooks/0/type"),
            (4, "/hooks/PreToolUse/0/matcher"),
            (5, "/hooks/PreToolUse/1/hooks/0"),
            (5, "/hooks/PreToolUse/1/hooks/1/timeout"),
            (7, "/failclosed"),
        ]
    );
}

#[test]
fn errors_in_the_file() {
    for (text, expected) in [
        ("[]", ": expected an object, found an array of 0; -"),
        (r#"{"hooks":[]}"#, "/hooks: expected an object, found an array of 0; -"),
        (r#"{"hooks":null}"#, "/hooks: expected an object, found null; -"),
        (r#"{"hook":{}}"#, "/hook: unknown key `hook`; did you mean `hooks`?"),
        (r#"{"failClosed":"yes"}"#, "/failClosed: expected true or false, found the string \"yes\"; -"),
        (r#"{"limits":{"memoryMib":64}}"#, "/limits/memoryMib: unknown key `memoryMib`; did you mean `memoryMiB`?"),
        (r#"{"limits":{"fuel":-1}}"#, "/limits/fuel: expected a number, 1 or more, found the number -1; -"),
        (r#"{"limits":{"fuel":1.5}}"#, "/limits/fuel: expected a whole number, found the number 1.5; -"),
        (
            r#"{"limits":{"hostCalls":4294967296}}"#,
            "/limits/hostCalls: expected a number, 4294967295 or less, found the number 4294967296; -",
        ),
        (
            r#"{"host":{"llm":{"provider":"openai"}}}"#,
            "/host/llm/provider: unknown word `openai`; known are `anthropic`, `openai-compatible`",
        ),
        (r#"{"host":{"tennant":"a"}}"#, "/host/tennant: unknown key `tennant`; did you mean `tenant`?"),
        (r#"{"hooks":{"Stop":{}}}"#, "/hooks/Stop: expected an array, found an object of 0; -"),
        (r#"{"hooks":{"Stop":[{}]}}"#, "/hooks/Stop/0: missing key `hooks`; -"),
        (
            r#"{"hooks":{"Stop":[{"type":"wasm","component":"a.wasm"}]}}"#,
            "/hooks/Stop/0: a handler without a group; \
             put it into the `hooks` of a group:   { \"hooks\": [ { \"type\": … } ] }",
        ),
        (
            r#"{"hooks":{"failureBehaviour":"deny"}}"#,
            "/hooks/failureBehaviour: unknown key `failureBehaviour`; did you mean `failureBehavior`?",
        ),
        (
            r#"{"hooks":{"PreToolUse":[{"matcher":"a(","hooks":[]}]}}"#,
            "/hooks/PreToolUse/0/matcher: pattern `a(` is not a regular expression: unclosed group at character 2; -",
        ),
    ] {
        assert_eq!(messages("claude", text), [expected], "{text}");
    }
}

#[test]
fn errors_in_a_handler() {
    for (handler, at, expected) in [
        ("1", "", "expected an object, found the number 1; -"),
        (
            r#"{"command":"x"}"#,
            "",
            "missing key `type`; known are `wasm`, `command`, `http`, `prompt`, `agent`, `mcp_tool`, `process`",
        ),
        (r#"{"type":1}"#, "/type", "expected a string, found the number 1; -"),
        (r#"{"type":"wasn","component":"a"}"#, "/type", "unknown word `wasn`; did you mean `wasm`?"),
        (r#"{"type":"wasm"}"#, "", "missing key `component`; -"),
        (r#"{"type":"command","command":["x"]}"#, "/command", "expected a string, found an array of 1; -"),
        (
            r#"{"type":"command","command":"x","timeout":0}"#,
            "/timeout",
            "expected a number, more than 0, found the number 0; -",
        ),
        (
            r#"{"type":"command","command":"x","timeout":-2}"#,
            "/timeout",
            "expected a number, more than 0, found the number -2; -",
        ),
        (
            r#"{"type":"command","command":"x","timeout":"5s"}"#,
            "/timeout",
            "expected a number, found the string \"5s\"; -",
        ),
        (
            r#"{"type":"command","command":"x","timeout":1e300}"#,
            "/timeout",
            "expected a number, 604800 or less, found the number 1e+300; -",
        ),
        (
            r#"{"type":"command","command":"x","timeout":1,"timeoutMs":1}"#,
            "/timeoutMs",
            "both `timeout` and `timeoutMs` are given; `timeout` is in seconds; keep one of the two",
        ),
        (
            r#"{"type":"command","command":"x","onFailure":"deny"}"#,
            "/onFailure",
            "unknown word `deny`; known are `ignore`, `block`, `ask`",
        ),
        (
            r#"{"type":"wasm","component":"a","permissions":{"stat":true}}"#,
            "/permissions/stat",
            "unknown key `stat`; did you mean `state`?",
        ),
        (
            r#"{"type":"wasm","component":"a","permissions":{"state":"yes"}}"#,
            "/permissions/state",
            "expected true or false or an object, found the string \"yes\"; -",
        ),
        (
            r#"{"type":"wasm","component":"a","permissions":{"http":["example.com"]}}"#,
            "/permissions/http/0",
            "`example.com` is not an origin; an origin is scheme, host and, unless it is the default, port: `https://example.com`",
        ),
        (
            r#"{"type":"wasm","component":"a","authority":"trust"}"#,
            "/authority",
            "unknown word `trust`; did you mean `trusted`?",
        ),
        (
            r#"{"type":"wasm","component":"a","authority":{"decide":["denny"]}}"#,
            "/authority/decide/0",
            "unknown word `denny`; did you mean `deny`?",
        ),
        (
            r#"{"type":"wasm","component":"a","authority":{"rewrite":"some"}}"#,
            "/authority/rewrite",
            "unknown word `some`; known are `all`",
        ),
        (
            r#"{"type":"wasm","component":"a","limits":{"memoryMiB":5000}}"#,
            "/limits/memoryMiB",
            "expected a number, 4096 or less, found the number 5000; -",
        ),
        (
            r#"{"type":"http","url":"example.com"}"#,
            "/url",
            "`example.com` is not an http address; it starts with `https://`",
        ),
    ] {
        assert_eq!(messages("claude", &with_handler(handler)), [format!("{HANDLER}{at}: {expected}")], "{handler}");
    }
}

#[test]
fn an_unknown_dialect_is_the_only_error() {
    assert_eq!(messages("claud", "{\"x\":1}"), [": unknown dialect `claud`; did you mean `claude`?"]);
    let text = r#"{"dialect":"claude2","hooks":1}"#;
    let errors = Config::parse(text, Path::new("hooks.json"), None).unwrap_err().diagnostics;
    assert_eq!((errors.len(), errors[0].pointer.as_str()), (1, "/dialect"));
}

#[test]
fn the_dialect_is_seen_in_a_broken_file() {
    let named = |text| dialect_hint(text).map(hookbox_protocol::Dialect::name);
    for text in ["{\"dialect\" :\n\"blade@observed\", }", "{'dialect': 'blade@observed'}", "dialect: blade@observed\n"]
    {
        assert_eq!(named(text), Some("blade@observed"), "{text}");
    }
    for text in ["", "{\"dialect\"", "{\"dialect\": \"blade", "{\"dialect\": \"none\"}", "{\"dialect\": 1}"] {
        assert_eq!(named(text), None, "{text}");
    }
}

#[test]
fn fail_closed_is_seen_in_a_broken_file() {
    for text in [
        "{\"failClosed\": true,",
        "{ \"failClosed\"\n:\ttrue, }",
        "}{\"failClosed\":false \"failClosed\":true",
        // Errors in the setting itself.
        "{\"failClosed\": \"true\"}",
        "{\"failClosed\": 1}",
        "{\"failclosed\": true}",
        "{\"fail_closed\": true}",
        "{\"failClose\": true}",
        "{\"failsClosed\": true}",
        "{\"failClosed\"",
        "{\"failClosed\":",
        // Other quotation marks, or none.
        "{'failClosed': true}",
        "{'failClosed': True}",
        "{failClosed: true}",
        "failClosed: true",
        "hooks: {}\nfailClosed: yes\n",
        "dialect = \"claude\"\nfailClosed = true",
        "failClosed => true",
        "{“failClosed”: true}",
        "{„failClosed“: true}",
        "{«failClosed» : true}",
        "{`failClosed`: true}",
        "{\u{fffd}failClosed\u{fffd}: true}",
        "{\\\"failClosed\\\": true}",
        "{\"failClosed\"：true}",
        "{'onFailure': 'block'}",
        "onFailure: block",
        // Failure policies of a hook.
        "{\"onFailure\": \"block\"",
        "{\"on_failure\": \"ask\"",
        "{\"failureBehavior\" : \"deny\"",
        "{\"failureBehaviour\" : \"deny\"",
        "{\"onFailur\": \"block\"",
    ] {
        assert!(fail_closed_hint(text), "{text}");
    }
    for text in [
        "{\"failClosed\": false,",
        "{\"failClosed\": \"false\",",
        "{\"failClosed\": null,",
        "{'failClosed': False}",
        "failClosed: no",
        "say failClosed: true",
        "\"what failClosed: true means\"",
        "{\"failClosed\", 1}",
        "{\"onFailure\": \"ignore\"",
        "{\"failover\": true, \"failFast\": true, \"failOpen\": true",
        "{\"onFailure\":",
        "{\"failureBehavior\": \"ignore\", \"timeoutBehavior\": \"deny\"",
        "{\"command\": \"echo onFailure: block\"}",
        "",
    ] {
        assert!(!fail_closed_hint(text), "{text}");
    }
}

#[test]
fn environment_variables_are_granted_by_name_only() {
    for (names, wrong) in
        [(r#"["*"]"#, "`*`"), (r#"["CI", "CI_*"]"#, "`CI_*`"), (r#"["A=B"]"#, "`A=B`"), (r#"[""]"#, "``")]
    {
        let hook = format!(r#"{{ "type": "wasm", "component": "a.wasm", "authority": {{ "env": {names} }} }}"#);
        let text = format!(r#"{{ "hooks": {{ "PreToolUse": [ {{ "hooks": [ {hook} ] }} ] }} }}"#);
        let errors = Config::parse(&text, Path::new("hooks.json"), None).unwrap_err().to_string();
        assert!(errors.contains(wrong) && errors.contains("name each variable"), "{errors}");
        assert!(errors.contains("/hooks/PreToolUse/0/hooks/0/authority/env/"), "{errors}");
        let ceiling = format!(r#"{{ "authority": {{ "env": {names} }} }}"#);
        let error = serde_json::from_str::<crate::Ceiling>(&ceiling).unwrap_err().to_string();
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn a_policy_in_the_wrong_place_is_an_error() {
    let hook = r#"{"type":"command","command":"x"}"#;
    let hooks = format!(r#""hooks":{{"PreToolUse":[{{"hooks":[{hook}]}}]}}"#);
    for (dialect, text, pointer) in [
        ("claude", format!(r#"{{"onFailure":"block",{hooks}}}"#), "/onFailure"),
        ("claude", format!(r#"{{"on_failure":"block",{hooks}}}"#), "/on_failure"),
        ("claude", format!(r#"{{"onTimeout":"block",{hooks}}}"#), "/onTimeout"),
        ("claude", format!(r#"{{"failureBehavior":"deny",{hooks}}}"#), "/failureBehavior"),
        ("blade", format!(r#"{{"failureBehavior":"deny",{hooks}}}"#), "/failureBehavior"),
        ("blade@observed", format!(r#"{{"timeoutBehaviour":"deny",{hooks}}}"#), "/timeoutBehaviour"),
        ("claude", r#"{"hooks":{"failureBehavior":"deny"}}"#.into(), "/hooks/failureBehavior"),
        ("codex", r#"{"hooks":{"timeoutBehavior":"deny"}}"#.into(), "/hooks/timeoutBehavior"),
        ("gemini", r#"{"hooksConfig":{"failClosed":true},"hooks":{}}"#.into(), "/hooksConfig/failClosed"),
        ("claude", format!(r#"{{"canUseTool":{hook},{hooks}}}"#), "/canUseTool"),
        ("picoclaw", format!(r#"{{"canUseTool":{hook},"hooks":{{}}}}"#), "/canUseTool"),
        ("claude", format!(r#"{{"hooks":{{"canUseTool":[{{"hooks":[{hook}]}}]}}}}"#), "/hooks/canUseTool"),
        ("claude", r#"{"hooks":{"failClosed":true}}"#.into(), "/hooks/failClosed"),
        ("claude", r#"{"hooks":{"Stop":[{"hooks":[],"onFailure":"block"}]}}"#.into(), "/hooks/Stop/0/onFailure"),
        (
            "claude",
            with_handler(r#"{"type":"command","command":"x","failClosed":true}"#),
            &format!("{HANDLER}/failClosed"),
        ),
        (
            "claude",
            with_handler(r#"{"type":"command","command":"x","onfailure":"block"}"#),
            &format!("{HANDLER}/onfailure"),
        ),
        (
            "claude",
            with_handler(r#"{"type":"command","command":"x","failureBehavior":"deny"}"#),
            &format!("{HANDLER}/failureBehavior"),
        ),
    ] {
        let Err(errors) = parse_as(dialect, &text) else { panic!("{dialect} {text}") };
        let errors = errors.diagnostics;
        let errors: Vec<_> = errors.iter().filter(|found| found.is_error()).map(|found| &found.pointer).collect();
        assert!(errors.iter().all(|found| *found == pointer) && !errors.is_empty(), "{dialect} {text}: {errors:?}");
    }
    let errors = messages("blade", r#"{"hooks":{"failureBehavior":"block"}}"#);
    assert_eq!(errors, ["/hooks/failureBehavior: unknown word `block`; known are `ignore`, `deny`, `ask`"]);
    assert!(parse_as("blade", &format!(r#"{{"canUseTool":{hook},"hooks":{{"failureBehavior":"deny"}}}}"#)).is_ok());
    // Settings of a client that resemble no policy.
    assert!(parse_as("claude", r#"{"failover":true,"onboarding":1,"hooks":{}}"#).is_ok());
}

#[test]
fn the_misspelt_event_of_a_hook_that_blocks_when_it_fails_is_an_error() {
    let of = |event: &str, beside: &str, own: &str| {
        format!(r#"{{{beside}"hooks":{{"{event}":[{{"hooks":[{{"type":"command","command":"x"{own}}}]}}]}}}}"#)
    };
    for (dialect, event) in [
        ("claude", "PreToolUze"),
        ("claude", "preToolUse"),
        ("claude", "PreTool"),
        ("gemini", "BeforTool"),
        ("copilot", "preTooluse"),
        ("codex", "PreTolUse"),
    ] {
        for (beside, own, closed) in [
            ("", "", false),
            (r#""failClosed":true,"#, "", true),
            ("", r#","onFailure":"block""#, true),
            ("", r#","onFailure":"ignore""#, false),
            ("", r#","onTimeout":"ask""#, true),
        ] {
            let text = of(event, beside, own);
            assert_eq!(parse_as(dialect, &text).is_err(), closed, "{dialect} {text}");
        }
    }
    // A name without resemblance may be an event of a later client version.
    for event in ["WorktreeCreate", "PostCompact", "BrandNewEvent"] {
        assert!(parse_as("claude", &of(event, r#""failClosed":true,"#, "")).is_ok(), "{event}");
    }
}

#[test]
fn a_byte_order_mark_at_the_beginning_is_left_out() {
    let text = "\u{feff}{\n\"failClosed\":true,\n\"hooks\":{\"PreToolUze\":[]}}";
    let errors = parse_as("claude", text).unwrap_err().diagnostics;
    assert_eq!((errors.len(), errors[0].line), (1, Some(3)));
    assert!(load("claude", "\u{feff}{\"failClosed\":true,\"hooks\":{}}").fail_closed);
    assert!(parse_as("claude", "{\u{feff}\"hooks\":{}}").is_err());
}

/// A file of a tenant has up to 16 MiB. Neither its number of mistakes nor the length of its words may take time and
/// memory that grow faster than the file.
#[test]
fn many_mistakes_and_long_words_are_cut() {
    let entry = r#"[{"hooks":[{"type":"command","command":"x"}]}]"#;
    let events: Vec<String> = (0..2_000).map(|number| format!(r#""PreToolUs{number}":{entry}"#)).collect();
    let loaded = Config::parse(&format!(r#"{{"hooks":{{{}}}}}"#, events.join(",")), Path::new("h.json"), None).unwrap();
    assert_eq!(loaded.warnings.len(), 101);
    assert!(loaded.warnings.iter().any(|warning| warning.message.ends_with("more errors and warnings are not shown")));
    let errors = parse_as("claude", &format!(r#"{{"failClosed":true,"hooks":{{{}}}}}"#, events.join(","))).unwrap_err();
    assert!(errors.diagnostics.iter().take(50).all(Diagnostic::is_error), "errors come first");
    let word = "x".repeat(500_000);
    for text in [
        format!(r#"{{"hooks":{{}},"{word}":1}}"#),
        format!(r#"{{"hooks":{{"{word}":{entry}}}}}"#),
        format!(r#"{{"dialect":"{word}","hooks":{{}}}}"#),
        format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{{"type":"{word}"}}]}}]}}}}"#),
        format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{{"type":"command","command":"x","{word}":1}}]}}]}}}}"#),
    ] {
        let found = match Config::parse(&text, Path::new("h.json"), None) {
            Ok(loaded) => loaded.warnings,
            Err(errors) => errors.diagnostics,
        };
        let told: usize = found.iter().map(|found| found.to_string().len()).sum();
        assert!(told < 30_000, "{told}: {}", &text[..80]);
    }
}
