#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

//! What an event costs the host, whatever is in it: counted, not measured.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use hookbox_protocol::{dialect, json::MAX_NODES};

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

/// What `run` and the daemon read at most.
const LIMIT: usize = 64 << 20;

/// The bytes that decoding holds at once, the text itself not among them.
fn cost(dialect: &str, wire: &[u8], reads: bool) -> usize {
    let dialect = dialect::by_name(dialect).unwrap();
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let event = dialect.decode_event(wire, None);
    assert_eq!(event.is_ok(), reads, "{}", event.err().map(|e| e.to_string()).unwrap_or_default());
    PEAK.load(Ordering::Relaxed) - before
}

/// One test, because there is one allocator.
#[test]
fn no_event_costs_more_than_six_times_the_largest() {
    let shapes = ["{\"a\":1}", "{}", "[[[{}]]]", "\"\""];
    let heads = [
        ("claude", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"#, "}"),
        ("claude", r#"{"hook_event_name":"BrandNew","x":"#, "}"),
        ("codebuddy", r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","input":"#, "}"),
        ("blade", r#"{"hook_event_name":"canUseTool","toolName":"Bash","input":"#, "}"),
        ("blade-callback", r#"{"event":"PostToolUse","toolName":"Bash","toolOutput":"#, "}"),
        ("picoclaw", r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_llm","params":{"messages":"#, "}}"),
    ];
    for (dialect, head, tail) in heads {
        let event = |value: &str| format!("{head}{value}{tail}");
        for shape in shapes {
            // As many as the bound on values lets in.
            let nodes = shape.matches(['{', '[', '1', 'n']).count() + shape.matches(['"']).count() / 2;
            let few = vec![shape; (MAX_NODES - 20) / nodes.max(1)].join(",");
            let cost = cost(dialect, event(&format!("[{few}]")).as_bytes(), true);
            assert!(cost <= 6 * LIMIT, "{dialect}: {shape} costs {} MiB", cost >> 20);
        }
        // As many as the bound on bytes lets in.
        let many = vec!["{\"a\":1}"; LIMIT / 8 - 20].join(",");
        let most = cost(dialect, event(&format!("[{many}]")).as_bytes(), false);
        assert!(most <= 6 * LIMIT, "{dialect}: {} MiB", most >> 20);
        let text = event(&format!("\"{}\"", "x".repeat(LIMIT / 8)));
        let cost = cost(dialect, text.as_bytes(), true);
        assert!(cost <= 6 * text.len(), "{dialect}: a text costs {} MiB", cost >> 20);
    }
}
