#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

//! The event name of an invalid text.

use std::path::Path;

use hookbox_protocol::{Dialect, Glimpse, dialect};
use proptest::{collection::vec, prelude::*};

fn seen(dialect: &str, wire: &[u8]) -> Option<(String, Option<String>)> {
    let dialect = dialect::by_name(dialect).unwrap();
    dialect.glimpse(wire, None).map(|Glimpse { name, tool }| (name, tool))
}

fn bash() -> (String, Option<String>) {
    ("PreToolUse".into(), Some("Bash".into()))
}

#[test]
fn an_unreadable_event_still_has_a_name() {
    let head = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"#;
    let deep = format!("{head}{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let not_utf8 = [head.as_bytes(), b"\"\xff\"}"].concat();
    let nul = format!("{head}\"a\0b\"}}");
    let last = format!(
        r#"{{"tool_input":{}{},"tool_name":"Bash","hook_event_name":"PreToolUse"}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    for wire in [head.as_bytes(), deep.as_bytes(), &not_utf8, nul.as_bytes(), last.as_bytes()] {
        assert_eq!(seen("claude", wire), Some(bash()), "{}", String::from_utf8_lossy(&wire[..60.min(wire.len())]));
    }
    let marked = [b"\xef\xbb\xbf", head.as_bytes()].concat();
    assert_eq!(seen("claude", &marked), Some(bash()));
    let twice = format!(r#"{head}{{"a":1,"a":2}}}}"#);
    assert_eq!(seen("claude", twice.as_bytes()), Some(bash()));
    assert_eq!(seen("claude", br#"{"hook_event_name":"PreToolUse","tool_name":5}"#), Some(("PreToolUse".into(), None)));
}

/// An event name in a tool's input is not the event's name, whatever fault follows in the text.
#[test]
fn a_name_within_something_else_is_not_the_events() {
    let nested = format!(
        r#"{{"tool_input":{{"hook_event_name":"Stop","tool_name":"Read","x":{}1{}}},"hook_event_name":"PreToolUse","tool_name":"Bash"}}"#,
        "[".repeat(2000),
        "]".repeat(2000)
    );
    assert_eq!(seen("claude", nested.as_bytes()), Some(bash()));
    let written = r#"{"prompt":"{\"hook_event_name\":\"Stop\"}","hook_event_name":"UserPromptSubmit",x"#;
    assert_eq!(seen("claude", written.as_bytes()), Some(("UserPromptSubmit".into(), None)));
    // The name is in an array, or nested too deep.
    assert_eq!(seen("claude", br#"[{"hook_event_name":"Stop"}]"#), None);
    assert_eq!(seen("picoclaw", br#"{"params":{"method":"hook.before_tool"}}"#), None);
}

/// A name is unknown if two readers could read different ones.
#[test]
fn duplicate_names_are_not_used() {
    assert_eq!(seen("claude", br#"{"hook_event_name":"PreToolUse","hook_event_name":"Stop"}"#), None);
    assert_eq!(seen("claude", br#"{x "a":{"hook_event_name":"Stop"},"hook_event_name":"PreToolUse"}"#), None);
    assert_eq!(
        seen("claude", br#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash"}"#),
        Some(("PreToolUse".into(), None))
    );
}

#[test]
fn every_dialect_has_its_own_pointers() {
    for (dialect, wire) in [
        ("codebuddy", &br#"{"tool_name":"Bash","hook_event_name":"PreToolUse","#[..]),
        ("blade", br#"{"toolName":"Bash","hook_event_name":"PreToolUse","#),
        ("blade-callback", br#"{"event":"PreToolUse","sessionId":"s","toolName":"Bash","toolInput":"#),
        ("picoclaw", br#"{"jsonrpc":"2.0","id":4,"method":"PreToolUse","params":{"meta":{"tool":"x"},"tool":"Bash","arguments":"#),
    ] {
        assert_eq!(seen(dialect, wire), Some(bash()), "{dialect}");
    }
    let named = dialect::by_name("claude").unwrap().glimpse(br#"{"tool_name":"Bash","#, Some("PreToolUse")).unwrap();
    assert_eq!(named, Glimpse { name: "PreToolUse".into(), tool: Some("Bash".into()) });
}

/// picoclaw waits for its reply even if the request has a fault after its head.
#[test]
fn a_broken_request_gets_its_reply() {
    let dialect = dialect::by_name("picoclaw").unwrap();
    let wire = br#"{"jsonrpc":"2.0","id":4,"method":"hook.approve_tool","params":{"tool":"exec","arguments":{"a":"#;
    // A byte order mark is a fault before the head.
    for wire in [wire.to_vec(), [b"\xef\xbb\xbf", &wire[..]].concat()] {
        let reply = dialect.fail_closed(&wire, None, "broken").stdout.unwrap();
        assert_eq!(
            reply,
            serde_json::json!({ "jsonrpc": "2.0", "id": 4, "result": { "approved": false, "reason": "broken" } })
        );
    }
}

fn samples() -> Vec<(&'static dyn Dialect, Vec<u8>, &'static str)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
    let mut found = Vec::new();
    for (folder, dialect, key) in [
        ("claude", "claude", "hook_event_name"),
        ("codebuddy", "codebuddy", "hook_event_name"),
        ("picoclaw", "picoclaw", "method"),
    ] {
        let mut folders = vec![root.join(folder)];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "json") {
                    found.push((dialect::by_name(dialect).unwrap(), std::fs::read(path).unwrap(), key));
                }
            }
        }
    }
    assert!(found.len() > 100, "{} samples", found.len());
    found
}

/// Returns the range of `"key":"name"` if it occurs once, with the byte before it.
fn head(wire: &[u8], key: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let text = std::str::from_utf8(wire).unwrap();
    let quoted = format!("\"{key}\"");
    let mut places = text.match_indices(&quoted);
    let (start, _) = places.next()?;
    let value = text[start..].find(&format!("\"{name}\""))?;
    places.next().is_none().then(|| start.saturating_sub(1)..start + value + name.len() + 2)
}

/// The name of a sample is found if it is intact. The rest of the sample may be cut off or have one changed byte.
#[test]
fn a_broken_sample_keeps_its_name() {
    let mut checked = 0;
    for (dialect, wire, key) in samples() {
        let name = dialect.decode_event(&wire, None).unwrap().name;
        let Some(head) = head(&wire, key, &name) else { continue };
        let found = |wire: &[u8]| dialect.glimpse(wire, None).map(|event| event.name);
        for at in 0..wire.len() {
            let cut = found(&wire[..at]);
            if at >= head.end {
                assert_eq!(cut.as_deref(), Some(&*name), "cut at {at}");
            }
            // Long samples are changed at every eleventh byte, to save time.
            if wire.len() > 800 && at % 11 != 0 {
                continue;
            }
            for byte in *b"\"\\{}[],:x\xff\0 " {
                let mut broken = wire.clone();
                broken[at] = byte;
                let broken = found(&broken);
                if !head.contains(&at) {
                    assert_eq!(
                        broken.as_deref(),
                        Some(&*name),
                        "{byte:?} at {at} of {}",
                        String::from_utf8_lossy(&wire)
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 100_000, "{checked}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        for dialect in dialect::ALL {
            let _ = dialect.glimpse(&bytes, None);
        }
    }

    /// A glimpse of a valid event has the event's name and tool.
    #[test]
    fn glimpse_and_decode_agree(pieces in vec(prop::sample::select(&[
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\"hook_event_name\"", "\"Stop\"", "\"PreToolUse\"", "\"tool_name\"", "\"Bash\"",
        "\"tool_input\"", "1", "null", " ", "\"a\":", "\"hook_event_name\":\"Stop\"", "\"tool_name\":\"Bash\"",
    ][..]), 0..24)) {
        let wire = format!("{{{}}}", pieces.concat());
        let claude = dialect::by_name("claude").unwrap();
        if let Ok(event) = claude.decode_event(wire.as_bytes(), None) {
            let seen = claude.glimpse(wire.as_bytes(), None).unwrap();
            prop_assert_eq!(&seen.name, &event.name);
            if let Some(call) = &event.call {
                prop_assert_eq!(seen.tool.unwrap_or_default(), &*call.name);
            }
        }
    }
}
