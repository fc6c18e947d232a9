//! Laws of [`Authority::limit`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{
    Decision, DecisionKind, Dialect, Event, Halt, HookOutput, Scope,
    authority::{Authority, Power, Rewrite, express, merge},
    dialect,
    output::RewriteBounds,
};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};

fn claude() -> &'static dyn Dialect {
    dialect::by_name("claude").unwrap()
}

fn event(name: &str) -> Event {
    let wire = json!({
        "hook_event_name": name, "session_id": "s", "transcript_path": "", "cwd": "/", "prompt": "hello",
        "tool_name": "Bash", "tool_input": {"command": "ls", "commands": 1, "env": {"A": "1"}},
        "tool_response": {"stdout": "x"}, "stop_hook_active": false,
    });
    claude().decode_event(wire.to_string().as_bytes(), None).unwrap()
}

const EVENTS: [&str; 5] = ["PreToolUse", "PostToolUse", "PermissionRequest", "UserPromptSubmit", "Stop"];

fn authority() -> impl Strategy<Value = Authority> {
    let pointers = prop::sample::subsequence(vec!["/command", "/env", "/env/A", "/stdout", "", "no pointer"], 0..=6);
    let rewrite = prop_oneof![
        1 => Just(Rewrite::All),
        4 => pointers.prop_map(|p| Rewrite::Only(p.into_iter().map(str::to_owned).collect())),
    ];
    let powers = prop::sample::subsequence(Power::ALL.to_vec(), 0..=6);
    let env = prop::sample::subsequence(vec!["*", "A", "A*", "LD_*"], 0..=4);
    (powers, rewrite, any::<bool>(), any::<bool>(), env).prop_map(|(decide, rewrite, context, system_message, env)| {
        Authority { decide, rewrite, context, system_message, env: env.into_iter().map(str::to_owned).collect() }
    })
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        Just(Decision::Allow),
        Just(Decision::Ask),
        Just(Decision::Defer),
        Just(Decision::Deny),
        Just(Decision::Skip),
        Just(Decision::Respond(json!({"for_llm": "instead"}))),
    ]
}

fn updated() -> impl Strategy<Value = Value> {
    let member = prop_oneof![Just("command"), Just("commands"), Just("env"), Just("stdout"), Just("new")];
    let value = prop_oneof![Just(json!("ls")), Just(json!(1)), Just(json!({"A": "2", "B": "3"})), Just(Value::Null)];
    let object = vec((member, value), 0..4);
    prop_oneof![
        4 => object.prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        1 => Just(json!("another prompt")),
    ]
}

fn output() -> impl Strategy<Value = HookOutput> {
    let halt = option::of((any::<bool>(), option::of(Just("enough".to_owned()))));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (option::of(decision()), option::of(updated()), halt, flags).prop_map(|(decision, updated, halt, flags)| {
        HookOutput {
            reason: decision.as_ref().map(|_| "because".to_owned()),
            decision,
            updated,
            updated_tool: flags.0.then(|| "Write".to_owned()),
            updated_permissions: flags.1.then(|| json!([])),
            interrupt: flags.2,
            context: flags.3.then(|| "context".to_owned()),
            system_message: flags.4.then(|| "message".to_owned()),
            halt: halt.map(|(turn, reason)| Halt { scope: if turn { Scope::Turn } else { Scope::Session }, reason }),
            env: json!({"A": "1"}).as_object().filter(|_| flags.5).cloned().unwrap_or_default(),
            extra: json!({"later": 1}).as_object().filter(|_| flags.5).cloned().unwrap_or_default(),
            ..HookOutput::default()
        }
    })
}

/// Lists a value's parts with their JSON pointers. An object is listed as `{}`, followed by its members.
fn leaves(at: &str, value: &Value, into: &mut Vec<(String, Value)>) {
    let Value::Object(members) = value else { return into.push((at.to_owned(), value.clone())) };
    into.push((at.to_owned(), json!({})));
    for (key, value) in members {
        leaves(&format!("{at}/{key}"), value, into);
    }
}

fn old_value(event: &Event) -> Value {
    match event.name.as_str() {
        "PreToolUse" | "PermissionRequest" => event.call.as_ref().unwrap().input.clone().into(),
        "PostToolUse" => json!({"stdout": "x"}),
        "UserPromptSubmit" => json!("hello"),
        _ => Value::Null,
    }
}

fn is_under(place: &str, pointer: &str) -> bool {
    pointer.is_empty() || place == pointer || place.starts_with(&format!("{pointer}/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_limited_answer_never_exceeds_the_authority(
        name in prop::sample::select(&EVENTS[..]), authority in authority(), mut output in output(),
    ) {
        let event = event(name);
        let before = output.clone();
        let notes = authority.limit(claude(), &event, &mut output);
        let may = |power| authority.decide.contains(&power);
        let within = match output.decision_kind() {
            None => true,
            Some(DecisionKind::Allow) => may(Power::Allow),
            Some(DecisionKind::Ask | DecisionKind::Defer) => may(Power::Ask),
            Some(DecisionKind::Skip) => may(Power::Skip),
            Some(DecisionKind::Respond) => may(Power::Respond),
            Some(DecisionKind::Deny) => may(Power::Deny),
        };
        prop_assert!(within);
        prop_assert!(output.halt.is_none() || may(Power::Abort));
        prop_assert!(!output.interrupt || may(Power::Abort));
        prop_assert!(output.updated_permissions.is_none() || may(Power::Allow));
        prop_assert!(output.context.is_none() || authority.context);
        prop_assert!(output.env.is_empty() || authority.env.iter().any(|pattern| pattern != "LD_*"));
        prop_assert!(output.system_message.is_none() || authority.system_message && authority.context);
        prop_assert!(!output.suppress_output || authority.system_message);
        let any_env = authority.env.iter().any(|pattern| pattern == "*");
        let rest = Authority { env: Authority::trusted().env, ..authority.clone() };
        prop_assert!(output.extra.is_empty() || any_env && rest == Authority::trusted());
        if let (Rewrite::Only(pointers), Some(updated)) = (&authority.rewrite, &output.updated) {
            prop_assert!(output.updated_tool.is_none());
            let (mut old, mut new) = (Vec::new(), Vec::new());
            leaves("", &old_value(&event), &mut old);
            leaves("", updated, &mut new);
            let differs = |a: &[(String, Value)], b: &[(String, Value)]| -> Vec<String> {
                a.iter().filter(|leaf| !b.contains(leaf)).map(|(place, _)| place.clone()).collect()
            };
            for place in differs(&old, &new).into_iter().chain(differs(&new, &old)) {
                prop_assert!(pointers.iter().any(|p| is_under(&place, p)), "{place} changed under {pointers:?}");
            }
        }
        let unchanged =
            |a: &HookOutput| HookOutput { updated: None, rewrite_bounds: RewriteBounds::default(), ..a.clone() };
        prop_assert!(!notes.is_empty() || unchanged(&before) == unchanged(&output), "something was taken in silence");
    }

    #[test]
    fn the_preset_trusted_changes_nothing(name in prop::sample::select(&EVENTS[..]), output in output()) {
        let mut limited = output.clone();
        prop_assert!(Authority::trusted().limit(claude(), &event(name), &mut limited).is_empty());
        prop_assert_eq!(limited, output);
    }

    #[test]
    fn limiting_twice_is_limiting_once(
        name in prop::sample::select(&EVENTS[..]), authority in authority(), mut output in output(),
    ) {
        authority.limit(claude(), &event(name), &mut output);
        let once = output.clone();
        prop_assert!(authority.limit(claude(), &event(name), &mut output).is_empty());
        prop_assert_eq!(output, once);
    }

    #[test]
    fn nothing_but_allow_becomes_allow(
        name in prop::sample::select(&EVENTS[..]), authority in authority(), mut output in output(),
    ) {
        let before = output.decision_kind();
        authority.limit(claude(), &event(name), &mut output);
        prop_assert!(output.decision_kind() != Some(DecisionKind::Allow) || before == Some(DecisionKind::Allow));
    }
}

fn limited(authority: &Authority, name: &str, mut output: HookOutput) -> HookOutput {
    authority.limit(claude(), &event(name), &mut output);
    output
}

fn may(decide: &[Power]) -> Authority {
    Authority { decide: decide.to_vec(), ..Authority::gate() }
}

#[test]
fn replacements_for_decisions_beyond_authority() {
    let respond = Decision::Respond(json!({"for_llm": "the text"}));
    let cases = [
        (Decision::Allow, vec![Power::Deny, Power::Ask], None),
        (respond.clone(), vec![Power::Deny], Some((DecisionKind::Deny, "the text"))),
        (Decision::Skip, vec![Power::Deny], Some((DecisionKind::Deny, "why"))),
        (Decision::Deny, vec![Power::Ask], Some((DecisionKind::Ask, "why"))),
        (Decision::Ask, vec![Power::Deny], Some((DecisionKind::Deny, "why"))),
        (Decision::Deny, vec![Power::Allow], None),
        (respond, vec![], None),
    ];
    for (decision, powers, expected) in cases {
        let output = limited(&may(&powers), "PreToolUse", HookOutput::decided(decision.clone(), "why"));
        let said = output.decision_kind().zip(output.reason.as_deref());
        assert_eq!(said, expected, "{decision:?} under {powers:?}");
    }
    // On events that ask for no permission, `ask` would become a denial.
    assert_eq!(
        limited(&may(&[Power::Ask]), "Stop", HookOutput::decided(Decision::Deny, "go on")),
        HookOutput::default()
    );
}

#[test]
fn a_halt_that_is_not_granted_denies_but_never_keeps_the_agent_going() {
    let halt = Halt { scope: Scope::Session, reason: Some("enough".into()) };
    let output = HookOutput { halt: Some(halt), ..HookOutput::decided(Decision::Allow, "fine") };
    let denied = limited(&may(&[Power::Deny, Power::Allow]), "PreToolUse", output.clone());
    assert_eq!(denied, HookOutput::decided(Decision::Deny, "enough"));
    let stopped = limited(&may(&[Power::Deny]), "Stop", HookOutput { decision: None, reason: None, ..output });
    assert_eq!(stopped, HookOutput::default());
}

#[test]
fn an_allow_is_lost_with_its_rewrite() {
    let rewriter = |pointer: &str| Authority { rewrite: Rewrite::Only(vec![pointer.into()]), ..may(&[Power::Allow]) };
    let wanted = json!({"command": "ls -l", "commands": 2, "env": {"A": "1"}});
    let output = HookOutput { updated: Some(wanted), ..HookOutput::decided(Decision::Allow, "now it is safe") };
    let part = limited(&rewriter("/command"), "PreToolUse", output.clone());
    assert_eq!(part.updated, Some(json!({"command": "ls -l", "commands": 1, "env": {"A": "1"}})));
    assert_eq!((part.decision, part.reason), (None, None), "part of what was allowed is lost");
    assert_eq!(limited(&rewriter("/file_path"), "PreToolUse", output.clone()), HookOutput::default());
    let whole = Authority { rewrite: Rewrite::Only(vec!["/command".into(), "/commands".into()]), ..rewriter("/") };
    assert_eq!(limited(&whole, "PreToolUse", output).decision, Some(Decision::Allow));
}

/// The `allow` was for another tool with the same input.
#[test]
fn an_allow_is_lost_with_its_tool_name() {
    let same = event("PreToolUse").call.unwrap().input;
    for updated in [None, Some(same)] {
        let output = HookOutput {
            updated: updated.map(Value::from),
            updated_tool: Some("Read".into()),
            ..HookOutput::decided(Decision::Allow, "reading is fine")
        };
        assert_eq!(limited(&may(&[Power::Allow]), "PreToolUse", output.clone()), HookOutput::default());
        // The same holds if the dialect cannot replace tools, with or without an authority.
        let mut everything = output;
        assert!(!express(claude(), &event("PreToolUse"), None, &mut everything).is_empty());
        assert_eq!((everything.decision, everything.updated_tool), (None, None));
    }
}

/// On picoclaw's `approve_tool`, an empty output is an approval.
#[test]
fn a_lost_rewrite_denies_if_silence_approves() {
    let picoclaw = dialect::by_name("picoclaw").unwrap();
    let wire = json!({ "jsonrpc": "2.0", "id": 1, "method": "hook.approve_tool", "params": { "tool": "exec", "arguments": { "command": "rm" } } });
    let event = picoclaw.decode_event(wire.to_string().as_bytes(), None).unwrap();
    let allow =
        HookOutput { updated: Some(json!({"command": "ls"})), ..HookOutput::decided(Decision::Allow, "now safe") };
    for authority in [may(&[Power::Allow]), Authority::trusted()] {
        let mut output = allow.clone();
        authority.limit(picoclaw, &event, &mut output);
        express(picoclaw, &event, Some(&authority), &mut output);
        let wire = picoclaw.encode_outcome(&event, &merge(picoclaw, &event, &[output]).output).unwrap();
        assert_eq!(wire["result"]["approved"], false, "{wire}");
    }
}

/// No hook can set variables that make programs run other code, in any spelling.
#[test]
fn environment_variables_that_run_something_are_refused() {
    let names = [
        "LD_PRELOAD",
        "ld_preload",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "ENV",
        "SHELLOPTS",
        "PROMPT_COMMAND",
        "PS4",
        "IFS",
        "PATH",
        "Path",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "PERL5LIB",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "EDITOR",
        "HOOKBOX_DEPTH",
        "hookbox_depth",
        "LESSOPEN",
        "HOME",
        "XDG_CONFIG_HOME",
        "ZDOTDIR",
        "GCONV_PATH",
        "RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC",
        "npm_config_script_shell",
        "CLAUDE_ENV_FILE",
        "SSH_ASKPASS",
        "TAR_OPTIONS",
        "GOCACHEPROG",
        "SSH_SK_HELPER",
        "APT_CONFIG",
        "PYTEST_ADDOPTS",
        "LEX",
        "YACC",
        "JAVA_OPTS",
        "ANSIBLE_LIBRARY",
        "TF_CLI_CONFIG_FILE",
        "ASAN_OPTIONS",
        "CCACHE_PREFIX",
        "",
        "A=B",
        "A B",
        "A\nLD_PRELOAD",
        "1A",
        "LD_PRELOAD\0",
        "\u{17f}HELL",
        "A;B",
    ];
    let output = |name: &str, value: Value| HookOutput {
        env: [(name.to_owned(), value)].into_iter().collect(),
        ..HookOutput::default()
    };
    for name in names {
        let mut output = output(name, json!("x"));
        let notes = Authority::trusted().limit(claude(), &event("PreToolUse"), &mut output);
        assert!(output.env.is_empty() && notes.len() == 1, "{name:?} {notes:?}");
    }
    // The same holds if the dialect does not know the field.
    for extra in [
        json!({ "env": { "PATH": "x", "CI": "1" } }),
        json!({ "hookSpecificOutput": { "Env": { "LD_AUDIT": "x", "CI": "1" } } }),
    ] {
        let said = HookOutput { extra: extra.as_object().unwrap().clone(), ..HookOutput::default() };
        let kept = json!(limited(&Authority::trusted(), "SessionStart", said).extra).to_string();
        assert!(kept.contains(r#"{"CI":"1"}"#), "{kept}");
    }
    for value in ["a\nLD_PRELOAD=b", "a\rb", "a\0b"] {
        assert!(limited(&Authority::trusted(), "PreToolUse", output("A", json!(value))).env.is_empty(), "{value:?}");
    }
    for name in ["CI", "NODE_ENV", "GIT_AUTHOR_NAME", "RUST_LOG", "database_url", "GOOGLE_CLOUD_PROJECT"] {
        assert_eq!(limited(&Authority::trusted(), "PreToolUse", output(name, json!("x"))).env.len(), 1, "{name}");
    }
}

#[test]
fn environment_variables_are_granted_by_name() {
    let env = json!({"CI": "1", "CI_JOB": "2", "OTHER": "3"}).as_object().unwrap().clone();
    let said = HookOutput { env, ..HookOutput::default() };
    for (granted, expected) in [
        (vec![], vec![]),
        (vec!["CI"], vec!["CI"]),
        (vec!["CI_*"], vec![]),
        (vec!["CI*", "*", "*_JOB"], vec!["CI", "CI_JOB", "OTHER"]),
        (vec!["*_JOB"], vec![]),
        (vec!["*"], vec!["CI", "CI_JOB", "OTHER"]),
        (vec!["ci"], vec![]),
    ] {
        let env = granted.iter().map(|name| (*name).to_owned()).collect();
        let set = limited(&Authority { env, ..Authority::gate() }, "PreToolUse", said.clone()).env;
        assert_eq!(set.keys().collect::<Vec<_>>(), expected, "{granted:?}");
    }
    for preset in [Authority::gate(), Authority::rewriter()] {
        assert!(limited(&preset, "PreToolUse", said.clone()).env.is_empty());
    }
}
