#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

//! Memory that an event takes on the host, whatever it contains. Allocations are counted exactly.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use hookbox::{HookSet, Request, config::Config};
use hookbox_protocol::{dialect, json::MAX_NODES};
use hookbox_testing::guest::encode;
use serde_json::{Value, json};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Maximum size of an event for `run` and the daemon.
const LIMIT: usize = 64 << 20;

/// Peak memory of decoding in bytes, without the text itself.
fn cost(dialect: &str, wire: &[u8], reads: bool) -> usize {
    let dialect = dialect::by_name(dialect).unwrap();
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let event = dialect.decode_event(wire, None);
    assert_eq!(event.is_ok(), reads, "{}", event.err().map(|e| e.to_string()).unwrap_or_default());
    PEAK.load(Ordering::Relaxed) - before
}

fn what_is_decoded() {
    let shapes = ["{\"a\":1}", "{}", "[[[{}]]]", "\"\"", "{\"a\":{\"a\":{\"a\":1}}}"];
    let heads = [
        ("claude", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"#, "}"),
        ("claude", r#"{"hook_event_name":"BrandNew","x":"#, "}"),
        ("codebuddy", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","input":"#, "}"),
        ("codebuddy", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","command":"#, "}"),
        ("claude", r#"{"hook_event_name":"PreToolUse","tool_name":"\ud800","tool_input":"#, "}"),
        ("gemini", r#"{"hook_event_name":"BeforeModel","llm_request":{"messages":"#, "}}"),
        ("blade", r#"{"hook_event_name":"canUseTool","toolName":"Bash","input":"#, "}"),
        ("blade-callback", r#"{"event":"PostToolUse","toolName":"Bash","toolOutput":"#, "}"),
        ("picoclaw", r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_llm","params":{"messages":"#, "}}"),
    ];
    for (dialect, head, tail) in heads {
        let event = |value: &str| format!("{head}{value}{tail}");
        for shape in shapes {
            // The maximum number of values.
            let nodes = shape.matches(['{', '[', '1', 'n']).count() + shape.matches(['"']).count() / 2;
            let few = vec![shape; (MAX_NODES - 20) / nodes.max(1)].join(",");
            let cost = cost(dialect, event(&format!("[{few}]")).as_bytes(), true);
            assert!(cost <= 6 * LIMIT, "{dialect}: {shape} costs {} MiB", cost >> 20);
        }
        // The maximum number of bytes.
        let many = vec!["{\"a\":1}"; LIMIT / 8 - 20].join(",");
        let most = cost(dialect, event(&format!("[{many}]")).as_bytes(), false);
        assert!(most <= 6 * LIMIT, "{dialect}: {} MiB", most >> 20);
        let text = event(&format!("\"{}\"", "x".repeat(LIMIT / 8)));
        let cost = cost(dialect, text.as_bytes(), true);
        assert!(cost <= 6 * text.len(), "{dialect}: a text costs {} MiB", cost >> 20);
    }
}

/// The size in bytes of the events for hooks: an eighth of the limit, with an eighth of the values.
const ASKED: usize = LIMIT / 8;

/// Arguments of a tool call with this size, in different shapes.
fn arguments() -> Vec<(&'static str, String)> {
    let list = |value: String, values: usize| {
        let count = (MAX_NODES / 8 / values - 100).min(ASKED / (value.len() + 1) - 100);
        format!("[{}]", vec![value; count].join(","))
    };
    let each = |values: usize| ASKED * values / (MAX_NODES / 8);
    vec![
        ("one text", format!("\"{}\"", "x".repeat(ASKED - 1000))),
        ("one escaped text", format!("\"{}\"", "\\n".repeat(ASKED / 2 - 1000))),
        ("texts", list(format!("\"{}\"", "x".repeat(each(1) - 3)), 1)),
        ("objects", list(format!(r#"{{"a":1,"b":"{}"}}"#, "x".repeat(each(5) - 18)), 5)),
        ("small objects", list(format!(r#"{{"a":"{}"}}"#, "x".repeat(each(3) - 10)), 3)),
        ("nested objects", list(format!(r#"{{"a":{{"a":{{"a":"{}"}}}}}}"#, "x".repeat(each(7) - 20)), 7)),
        ("deep arrays", list(format!(r#"[[["{}"]]]"#, "x".repeat(each(4) - 10)), 4)),
        ("long numbers", list("1".repeat(each(1) - 2), 1)),
    ]
}

/// A component that reads its event and gives an empty answer.
fn component() -> Vec<u8> {
    let handles =
        HANDLED.map(|event| format!(r#"(export "hookbox:hooks/{event}@0.2.0#handle" (func $handle))"#)).concat();
    let world = HANDLED.map(|event| format!("export hookbox:hooks/{event}@0.2.0;")).concat();
    let module = format!(
        r#"(module
        (memory (export "memory") 1)
        (global $free (mut i32) (i32.const 1024))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (local $at i32) (local $missing i32)
            (local.set $at (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
            (global.set $free (i32.add (local.get $at) (local.get 3)))
            (local.set $missing (i32.sub (i32.shr_u (i32.add (global.get $free) (i32.const 65535)) (i32.const 16)) (memory.size)))
            (if (i32.gt_s (local.get $missing) (i32.const 0)) (then (drop (memory.grow (local.get $missing)))))
            (local.get $at))
        (func $handle (param i32) (result i32) (i32.const 0))
        {handles})"#
    );
    encode(&module, &world, "")
}

const HANDLED: [&str; 6] =
    ["pre-tool-use", "post-tool-use", "permission-request", "can-use-tool", "before-llm", "other-event"];

/// Peak memory of the host for one event with this hook, in bytes, without the event's text.
async fn asked(dialect: &str, event: &str, handler: Option<&Value>, wire: &str, folder: &std::path::Path) -> usize {
    let handlers = handler.into_iter().cloned().collect::<Vec<_>>();
    let hooks = match dialect {
        "picoclaw" => handlers.into_iter().map(|handler| ("hook".to_owned(), handler)).collect(),
        "blade-callback" => json!({ event: handlers }),
        _ => json!({ event: [{ "hooks": handlers }] }),
    };
    let config = json!({ "dialect": dialect, "hooks": hooks }).to_string();
    let config = Config::parse(&config, &folder.join("hooks.json"), None).unwrap().config;
    let host = HookSet::standalone().config(config).cache_dir(folder.join("cache")).build().await.unwrap();
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let named = (dialect == "picoclaw" || dialect == "opencode" || dialect == "blade-callback").then_some(event);
    let response = host.decide(Request::new(wire.as_bytes()).event_name(named)).await;
    let verdict = response.verdict().unwrap();
    let outcomes: Vec<_> =
        verdict.hooks.iter().map(|hook| hook.outcome().map(|said| said.as_ref().map(|_| ()))).collect();
    assert!(outcomes.iter().all(|said| matches!(said, Some(Ok(())))), "{dialect} {event} {wire:.90}: {outcomes:?}");
    PEAK.load(Ordering::Relaxed) - before
}

/// Memory of a component in MiB: the event's size and at most 2 MiB more.
fn guest_mib(wire: &str) -> usize {
    (wire.len() >> 20) + 2
}

fn handler(wire: &str) -> Value {
    let limits = json!({ "memoryMiB": guest_mib(wire), "fuel": u64::MAX >> 1 });
    json!({ "type": "wasm", "component": "hook.wasm", "limits": limits, "timeout": 600 })
}

/// Events whose large values are parsed only on access.
const HELD_ONCE: [(&str, &str, &str); 8] = [
    ("claude", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":VALUE}}"#),
    (
        "claude",
        "PostToolUse",
        r#"{"hook_event_name":"PostToolUse","tool_name":"T","tool_input":{},"tool_response":VALUE}"#,
    ),
    ("codebuddy", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":VALUE}}"#),
    ("blade", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":VALUE}}"#),
    ("blade-callback", "PreToolUse", r#"{"event":"PreToolUse","toolName":"T","toolInput":{"a":VALUE}}"#),
    ("codex", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":VALUE}}"#),
    ("gemini", "BeforeTool", r#"{"hook_event_name":"BeforeTool","tool_name":"T","tool_input":{"a":VALUE}}"#),
    (
        "picoclaw",
        "hook.before_tool",
        r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{"tool":"T","arguments":{"a":VALUE}}}"#,
    ),
];

async fn what_is_asked(folder: &std::path::Path) {
    let command = json!({ "type": "command", "command": "cat >/dev/null", "timeout": 600 });
    let mut over = Vec::new();
    let others = [
        ("claude", "BrandNew", r#"{"hook_event_name":"BrandNew","x":VALUE}"#),
        // A name that is half a surrogate pair.
        ("claude", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"\ud800","tool_input":{"a":VALUE}}"#),
        ("codebuddy", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","input":{"a":VALUE}}"#),
        (
            "codebuddy",
            "PreToolUse",
            r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":null,"input":{"a":VALUE}}"#,
        ),
        ("codebuddy", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","command":VALUE}"#),
        (
            "codebuddy",
            "PreToolUse",
            r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"command":VALUE}}"#,
        ),
        ("blade", "canUseTool", r#"{"hook_event_name":"canUseTool","toolName":"T","input":{"a":VALUE}}"#),
        // The hooks of another stage get the event too.
        ("blade", "PermissionRequest", r#"{"hook_event_name":"canUseTool","toolName":"T","input":{"a":VALUE}}"#),
        (
            "blade@observed",
            "PostToolUse",
            r#"{"hook_event_name":"PostToolUse","tool_name":"T","tool_response":{"llmContent":VALUE}}"#,
        ),
        ("gemini", "BeforeModel", r#"{"hook_event_name":"BeforeModel","llm_request":{"model":"m","messages":VALUE}}"#),
        ("copilot", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":VALUE}}"#),
        // Arguments as a string that contains JSON.
        ("copilot", "preToolUse", r#"{"toolName":"T","toolArgs":"{\"a\":VALUE}"}"#),
        ("opencode", "PreToolUse", r#"{"input":{"tool":"T"},"output":{"args":{"a":VALUE}}}"#),
    ];
    for (at, (dialect, event, wire)) in HELD_ONCE.into_iter().chain(others).enumerate() {
        for (shape, value) in arguments() {
            // The first event has every shape, and all others have two.
            if at > 0 && !matches!(shape, "one text" | "small objects") {
                continue;
            }
            let value = if wire.contains(r#"\""#) { value.replace('"', r#"\""#) } else { value };
            let wire = wire.replace("VALUE", &value);
            drop(value);
            let (component, guest) = (handler(&wire), guest_mib(&wire) << 20);
            let hooks = [("none", None, 0), ("a command", Some(&command), 0), ("a component", Some(&component), guest)];
            for (hook, handler, guest) in hooks {
                let cost = wire.len() + guest + asked(dialect, event, handler, &wire, folder).await;
                if 5 * cost > 28 * wire.len() {
                    let hundredths = cost * 100 / wire.len();
                    over.push(format!("{dialect} {event} {wire:.60}, {shape}, {hook}: {hundredths} %"));
                }
            }
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// The host holds a tool's arguments and result once, as the text that hooks get.
async fn what_is_held_once(folder: &std::path::Path) {
    for (dialect, event, wire) in HELD_ONCE {
        for (shape, value) in arguments() {
            let wire = wire.replace("VALUE", &value);
            let cost = asked(dialect, event, Some(&handler(&wire)), &wire, folder).await;
            assert!(10 * cost <= 11 * wire.len(), "{dialect} {event}, {shape}: {} %", cost * 100 / wire.len());
        }
    }
}

/// One test for everything, because there is one allocator.
#[tokio::test]
async fn no_event_costs_more_than_six_times_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hook.wasm"), component()).unwrap();
    what_is_asked(folder.path()).await;
    what_is_decoded();
    what_is_held_once(folder.path()).await;
}
