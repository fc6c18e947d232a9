//! An independent model of `decisions.md` and `configuration.md`, compared with the whole pipeline on thousands of
//! random configurations: components that decide, fail, exceed limits or cannot be loaded, under every authority and
//! failure policy, enforced or monitored, in one stage or two. The gate must open exactly if the pages say so.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use hookbox::{ComponentSource, HookSet, LoadError, Request, Runtime, Tenant, Wanted, async_trait};
use hookbox_testing::guest;
use serde_json::{Value, json};

/// The behaviours of components, each with the body of `handle`. In each interface that decides, the case of the
/// decision is at address 4: `allow` 1, `ask` 2, `deny` 3.
const BODIES: [(&str, &str); 10] = [
    ("pass", ""),
    ("allow", "(i32.store8 (i32.const 4) (i32.const 1))"),
    ("ask", "(i32.store8 (i32.const 4) (i32.const 2))"),
    ("deny", "(i32.store8 (i32.const 4) (i32.const 3))"),
    ("trap", "(unreachable)"),
    ("out-of-fuel", "(loop $again (br $again))"),
    ("timeout", "(loop $again (br $again))"),
    ("log-flood", "(loop $again (call $log (i32.const 0) (i32.const 4096) (i32.const 4096)) (br $again))"),
    (
        "too-many-host-calls",
        "(loop $again (global.set $free (i32.const 16384)) (call $config (i32.const 8192)) (br $again))",
    ),
    // A decision whose reason exceeds the output limit.
    (
        "output-too-large",
        "(drop (memory.grow (i32.const 40))) (i32.store8 (i32.const 4) (i32.const 3))
         (call $say (i32.const 4) (i32.const 8) (i32.const 131072) (i32.const 2000000))",
    ),
];

/// Causes that count as a limit.
const LIMITS: [&str; 6] =
    ["out-of-fuel", "timeout", "log-flood", "too-many-host-calls", "output-too-large", "event-too-large"];

/// Host functions that some behaviours need.
const FUNCTIONS: &str = r#"
    (import "hookbox:hooks/log@0.2.0" "log" (func $log (param i32 i32 i32)))
    (import "hookbox:hooks/config@0.2.0" "get" (func $config (param i32)))"#;
const IMPORTS: &str = "import hookbox:hooks/log@0.2.0; import hookbox:hooks/config@0.2.0;";

/// The form in which an event arrives: whole, cut off, or nested too deeply for the parser.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wire {
    Whole,
    Unavailable,
    TooLarge,
}

/// Events: the dialect, the name in a configuration, the interface, and the client's JSON.
const EVENTS: [(&str, &str, &str, &str); 8] = [
    ("claude", "PreToolUse", "pre-tool-use", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#),
    (
        "codebuddy",
        "PreToolUse",
        "pre-tool-use",
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#,
    ),
    ("blade", "PreToolUse", "pre-tool-use", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#),
    (
        "blade",
        "PermissionRequest",
        "permission-request",
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{}}"#,
    ),
    (
        "blade",
        "canUseTool",
        "permission-request",
        r#"{"hook_event_name":"canUseTool","tool_name":"Bash","tool_input":{}}"#,
    ),
    ("blade-callback", "PreToolUse", "pre-tool-use", r#"{"event":"PreToolUse","toolName":"Bash","toolInput":{}}"#),
    (
        "picoclaw",
        "before_tool",
        "pre-tool-use",
        r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","params":{"tool":"exec","arguments":{}}}"#,
    ),
    (
        "picoclaw",
        "approve_tool",
        "permission-request",
        r#"{"jsonrpc":"2.0","id":7,"method":"hook.approve_tool","params":{"tool":"exec","arguments":{}}}"#,
    ),
];

/// Authorities: the configuration text, the decisions that it grants, and true if it can only restrict.
const AUTHORITIES: [(&str, &[&str], bool); 7] = [
    // `docs/configuration.md`, Authority: "A component that names none is a `gate`".
    ("null", &["deny", "ask"], true),
    (r#""gate""#, &["deny", "ask"], true),
    (r#""rewriter""#, &["deny", "ask", "allow"], false),
    (r#""trusted""#, &["deny", "ask", "allow"], false),
    (r#"{"decide":["deny"]}"#, &["deny"], true),
    (r#"{"decide":["allow"]}"#, &["allow"], false),
    (r#"{"decide":[]}"#, &[], false),
];

/// Components by name: `INTERFACE/BODY.wasm`.
struct Components(BTreeMap<String, Vec<u8>>);

#[async_trait]
impl ComponentSource for Components {
    async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError> {
        let missing = || LoadError::Read { path: wanted.name.into(), error: std::io::ErrorKind::NotFound.into() };
        self.0.get(wanted.name).cloned().ok_or_else(missing)
    }
}

/// Every behaviour for every interface.
fn components() -> Components {
    let interfaces = ["pre-tool-use", "permission-request", "can-use-tool"];
    let of = |interface: &str, (name, body): &(&str, &str)| {
        let (functions, imports) =
            if body.contains("call $log") || body.contains("call $config") { (FUNCTIONS, IMPORTS) } else { ("", "") };
        let module = guest::gate(body, functions).replace("pre-tool-use", interface);
        let world = format!("{imports} {}", guest::GATE.replace("pre-tool-use", interface));
        let bytes = guest::encode(&module, &world, "");
        (format!("{interface}/{name}.wasm"), bytes)
    };
    Components(interfaces.iter().flat_map(|interface| BODIES.iter().map(move |body| of(interface, body))).collect())
}

/// `SplitMix64`: yields the same configurations in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap()
    }
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Failure policies of a hook, in the words of the configuration.
const POLICIES: [Option<&str>; 6] = [None, None, None, Some("ignore"), Some("ask"), Some("block")];

#[derive(Debug, Clone, Copy)]
struct Hook {
    /// One of [`BODIES`], or `load` (there is no such component), or `event` (it handles another event).
    does: &'static str,
    authority: (&'static str, &'static [&'static str], bool),
    on_failure: Option<&'static str>,
    on_timeout: Option<&'static str>,
    watched: bool,
    /// Picoclaw: the hook is only notified.
    observes: bool,
}

#[derive(Debug)]
struct Case {
    wire: Wire,
    event: (&'static str, &'static str, &'static str, &'static str),
    closed: bool,
    /// Blade: the policies for all hooks, in blade's words.
    failures: Option<&'static str>,
    timeouts: Option<&'static str>,
    callback: Option<Hook>,
    hooks: Vec<Hook>,
}

fn hook(dice: &mut Dice, dialect: &str) -> Hook {
    // Waiting for a timeout takes time, so it is rare.
    let does = if dice.once_in(40) {
        "timeout"
    } else {
        dice.one(&[
            "pass",
            "allow",
            "ask",
            "deny",
            "trap",
            "out-of-fuel",
            "log-flood",
            "too-many-host-calls",
            "output-too-large",
            "load",
            "event",
        ])
    };
    Hook {
        does,
        authority: dice.one(&AUTHORITIES),
        on_failure: dice.one(&POLICIES),
        on_timeout: dice.one(&POLICIES),
        watched: dice.once_in(8),
        observes: dialect == "picoclaw" && dice.once_in(8),
    }
}

fn case(dice: &mut Dice) -> Case {
    let event = dice.one(&EVENTS);
    let (blade, permission) = (event.0 == "blade", event.2 == "permission-request");
    // No page says if the policies in `hooks` apply to the callback, so they are not combined.
    let callback = (blade && permission && dice.once_in(2)).then(|| hook(dice, event.0));
    let behavior = |dice: &mut Dice| {
        let words = [None, Some("ignore"), Some("ask"), Some("deny")];
        if blade && callback.is_none() { dice.one(&words) } else { None }
    };
    Case {
        wire: dice.one(&[Wire::Whole, Wire::Whole, Wire::Whole, Wire::Whole, Wire::Unavailable, Wire::TooLarge]),
        event,
        closed: dice.once_in(2),
        failures: behavior(dice),
        timeouts: behavior(dice),
        callback,
        hooks: (0..dice.below(4)).map(|_| hook(dice, event.0)).collect(),
    }
}

impl Hook {
    fn entry(&self, interface: &str) -> Value {
        let other = if interface == "pre-tool-use" { "permission-request" } else { "pre-tool-use" };
        let component = match self.does {
            "event" => format!("{other}/pass.wasm"),
            does => format!("{interface}/{does}.wasm"),
        };
        let mut entry = json!({ "type": "wasm", "component": component });
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                entry[key] = value;
            }
        };
        put("authority", serde_json::from_str(self.authority.0).unwrap());
        put("onFailure", json!(self.on_failure));
        put("onTimeout", json!(self.on_timeout));
        put("mode", json!(self.watched.then_some("monitor")));
        if self.does == "timeout" {
            put("timeoutMs", json!(20));
            put("limits", json!({ "fuel": 1_u64 << 50 }));
        } else {
            let fuel = if self.does == "too-many-host-calls" { 50_000_000 } else { 100_000 };
            put("limits", json!({ "fuel": fuel }));
        }
        entry
    }

    /// The word that counts of this hook before the merge. Empty for none.
    fn settled(&self, case: &Case) -> &'static str {
        if self.watched || self.observes {
            return "";
        }
        let (_, granted, only_holds_back) = self.authority;
        // decisions.md#failures: "An unreadable event is a failure of every hook that is subscribed to it"; "The
        // limits of the JSON parser are such limits".
        let does = match case.wire {
            Wire::Whole => self.does,
            Wire::Unavailable => "event",
            Wire::TooLarge => "event-too-large",
        };
        let failure = match does {
            word @ ("allow" | "ask" | "deny") if granted.contains(&word) => return word,
            // decisions.md#authority: "By default a component may deny, ask and add context, and nothing else"; what is
            // not granted is the nearest safer thing that is.
            "ask" if granted.contains(&"deny") => return "deny",
            "pass" | "allow" | "ask" | "deny" => return "",
            failure => failure,
        };
        // `docs/configuration.md`, Failures: "Which word holds is the first of these that is given".
        let late = failure == "timeout";
        // "1. the handler's `onTimeout` (for a timeout), then its `onFailure`".
        let own = if late { self.on_timeout.or(self.on_failure) } else { self.on_failure };
        // "2. blade's `timeoutBehavior` for a timeout, `failureBehavior` for anything else".
        let of_all = if late { case.timeouts } else { case.failures };
        match own.or(of_all) {
            Some("ignore") => "",
            Some("ask") => "ask",
            Some(_) => "deny",
            // "3. `"failClosed": true`: `block` on events that can be blocked".
            None if case.closed => "deny",
            // "4. for a component that may only hold back … before a tool runs and on a permission request: `block`, when it
            // used up one of its limits, the timeout among them".
            None if only_holds_back && LIMITS.contains(&failure) => "deny",
            // "5. the dialect's own: `ignore`, except for picoclaw's `approve_tool`, where it is `block`".
            None if case.event.1 == "approve_tool" => "deny",
            None => "",
        }
    }
}

impl Case {
    fn config(&self) -> Value {
        let (dialect, event, interface, _) = self.event;
        let entries = self.hooks.iter().map(|hook| hook.entry(interface));
        let mut hooks = match dialect {
            "picoclaw" => entries
                .zip(&self.hooks)
                .enumerate()
                .map(|(number, (mut entry, hook))| {
                    let key = if hook.observes { "observe" } else { "intercept" };
                    entry[key] = json!([if hook.observes { "tool_exec_start" } else { event }]);
                    (format!("h{number}"), entry)
                })
                .collect(),
            "blade-callback" => json!({ event: entries.collect::<Vec<_>>() }),
            // With the callback there are hooks that run after it.
            _ if event == "canUseTool" => json!({ "PermissionRequest": [{ "hooks": entries.collect::<Vec<_>>() }] }),
            _ => json!({ event: [{ "hooks": entries.collect::<Vec<_>>() }] }),
        };
        for (key, word) in [("failureBehavior", self.failures), ("timeoutBehavior", self.timeouts)] {
            if let Some(word) = word {
                hooks[key] = word.into();
            }
        }
        let mut config = json!({ "dialect": dialect, "failClosed": self.closed, "hooks": hooks });
        if let Some(callback) = &self.callback {
            config["canUseTool"] = callback.entry("can-use-tool");
        }
        config
    }

    /// The event as its client writes it.
    fn text(&self) -> String {
        let whole = self.event.3;
        match self.wire {
            Wire::Whole => whole.to_owned(),
            Wire::Unavailable => format!("{whole} trailing"),
            Wire::TooLarge => {
                let open = whole.trim_end_matches('}');
                let levels = open.matches('{').count() - open.matches('}').count();
                format!("{open}\"deep\":{}{}{}", "[".repeat(1001), "]".repeat(1001), "}".repeat(levels))
            }
        }
    }

    /// The expected response in one word. Empty for none.
    fn expected(&self) -> &'static str {
        let (dialect, event, ..) = self.event;
        // decisions.md#failures: "If its configuration says `ignore`, a hook that cannot be loaded counts as no output.
        // Otherwise the outcome of the other hooks is printed only if it is a restriction".
        let ignored = |hook: &Hook| hook.on_failure.or(self.failures) == Some("ignore");
        let missing = |hook: &Hook| hook.does == "load" && !hook.watched && !hook.observes && !ignored(hook);
        let asked = self.callback.iter().filter(|hook| ["allow", "deny"].contains(&hook.settled(self))).count() == 0;
        let incomplete =
            self.wire == Wire::Whole && (self.callback.iter().any(missing) || asked && self.hooks.iter().any(missing));
        let sayable = |word: &'static str| match (dialect, word) {
            ("claude" | "blade", word) => word,
            // decisions.md#degradation: "An `ask` on an event without `ask` is a block; an `allow` on an event without
            // `allow` has no effect."
            (_, "ask") => "deny",
            (_, "allow") => "",
            (_, word) => word,
        };
        // decisions.md#blades-canusetool: "`canUseTool` runs first. `allow`/`deny` is final; `ask` falls back to the
        // `PermissionRequest` hooks."
        let first = self.callback.map(|hook| hook.settled(self)).filter(|word| ["allow", "deny"].contains(word));
        let merged = first.unwrap_or_else(|| {
            let words: Vec<&str> = self.hooks.iter().map(|hook| sayable(hook.settled(self))).collect();
            // decisions.md#order-and-rewrites: "a `deny` or `ask` from any hook keeps its force".
            ["deny", "ask", "allow"].into_iter().find(|word| words.contains(word)).unwrap_or_default()
        });
        match (event, merged) {
            // decisions.md#failures: "If no failure blocks, nothing is printed."
            (_, "") if self.wire != Wire::Whole => "",
            (_, "" | "allow") if incomplete => "",
            // "An empty answer is an `ask`."
            ("canUseTool", "") => "ask",
            // decisions.md#picoclaw: "An empty output on `approve_tool` is `approved: true`".
            ("approve_tool", "") => "allow",
            (_, word) => word,
        }
    }
}

/// The word in the client's JSON.
fn found(dialect: &str, wire: &Value) -> &'static str {
    let inner = &wire["hookSpecificOutput"];
    let words = match dialect {
        "codebuddy" => [&wire["decision"], &Value::Null],
        "blade-callback" => [&wire["action"], &Value::Null],
        "picoclaw" => [&wire["result"]["approved"], &wire["result"]["action"]],
        _ => [&inner["permissionDecision"], &wire["behavior"]],
    };
    let word = words.into_iter().find(|word| !word.is_null());
    match word.map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).as_deref() {
        Some("allow" | "approve" | "true") => "allow",
        Some("ask") => "ask",
        Some("deny" | "block" | "skip" | "deny_tool" | "false") => "deny",
        None | Some("continue") => "",
        Some(other) => panic!("{other} in {wire}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gate_follows_its_failure_policy() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().cache_dir(folder.path().join("cache")).components(components()).build().unwrap();
    // Kept alive, so that each component is compiled once.
    let (mut dice, mut held, mut seen) = (Dice(11), Vec::new(), BTreeMap::new());
    for number in 0..3_000 {
        let case = case(&mut dice);
        let text = case.config().to_string();
        let loaded = runtime.reader().text(&text, &folder.path().join("hooks.json"));
        let config = loaded.unwrap_or_else(|errors| panic!("{errors}\n{text}")).config;
        let hooks = HookSet::builder(&runtime, Tenant::new("oracle"), config).lazy().load().await.unwrap();
        let text = case.text();
        let response = hooks.decide(Request::new(text.as_bytes())).await;
        let wire = response.verdict().and_then(|verdict| verdict.wire.clone()).unwrap_or_default();
        let found = match &response.error {
            Some(_) if response.blocks => "deny",
            // No output: the client does as it would without hooks.
            Some(_) => "",
            None => found(case.event.0, &wire),
        };
        let expected = case.expected();
        assert_eq!(found, expected, "{number}: {wire}\n{case:#?}\n{response:#?}");
        *seen.entry((case.event.0, case.event.1, found)).or_insert(0_u32) += 1;
        if number < 100 {
            held.push(hooks);
        }
    }
    // Each word of an event was the expected one in some case.
    for (dialect, event, ..) in EVENTS {
        let words: &[&str] = match (dialect, event) {
            (_, "canUseTool") => &["deny", "ask", "allow"],
            ("claude" | "blade", _) => &["deny", "ask", "allow", ""],
            (_, "approve_tool") => &["deny", "allow"],
            _ => &["deny", ""],
        };
        for word in words {
            let times = seen.get(&(dialect, event, *word)).copied().unwrap_or_default();
            assert!(times > 2, "{dialect} {event} {word:?}: {times} times");
        }
    }
}
