#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{EXAMPLES, Hooks, PAUSE, PER_TENANT, SAVED, SavedHook};
use crate::console::outcome::Part;

const NOW: i64 = 1_800_000_000_000;

fn part(pointer: &str) -> Part {
    Part {
        pointer: pointer.into(),
        monitored: false,
        denied: false,
        asked: false,
        word: "nothing",
        reason: None,
        failure: None,
        us: 20,
        fuel: Some(1000),
        digest: Some("aa".into()),
    }
}

fn latest(hooks: &Hooks, pointer: &str, now: i64) -> Value {
    hooks.json("acme", "claude", pointer, now)
}

#[test]
fn failures_that_follow_each_other_have_a_beginning() {
    let hooks = Hooks::default();
    let fail = |at: i64| {
        let failed = Part { failure: Some(("fuel", "out of fuel".into())), ..part("/0") };
        hooks.count("acme", "claude", &[failed], &format!("v{at}"), &json!({}), at);
    };
    for minute in 0..60 {
        fail(NOW + minute * 60_000);
    }
    let now = NOW + 60 * 60_000;
    let failing = &latest(&hooks, "/0", now)["failing"];
    assert_eq!((&failing["since"], &failing["count"], &failing["cause"]), (&json!(NOW), &json!(60), &json!("fuel")));
    // After a pause it is not failing, and the next failure starts a new series.
    assert!(latest(&hooks, "/0", now + PAUSE)["failing"].is_null());
    fail(now + 2 * PAUSE);
    assert_eq!(latest(&hooks, "/0", now + 2 * PAUSE)["failing"]["since"], now + 2 * PAUSE);
    assert_eq!(latest(&hooks, "/0", now)["causes"], json!({ "fuel": 61 }));
}

#[test]
fn a_monitored_hook_has_examples() {
    let hooks = Hooks::default();
    for n in 0..20 {
        let watched =
            Part { monitored: true, denied: n % 2 == 0, word: "deny", reason: Some("no".into()), ..part("/0") };
        hooks.count("acme", "claude", &[watched], &format!("v{n}"), &json!({ "event": "PreToolUse" }), NOW);
    }
    let latest = latest(&hooks, "/0", NOW);
    assert_eq!((&latest["calls"], &latest["denied"]), (&json!(20), &json!(10)));
    let examples = latest["examples"].as_array().unwrap();
    assert_eq!(examples.len(), EXAMPLES);
    assert_eq!((&examples[4]["id"], &examples[4]["event"]), (&json!("v18"), &json!("PreToolUse")));
    // The counters restart when it is enforced.
    hooks.count("acme", "claude", &[part("/0")], "v", &json!({}), NOW);
    assert_eq!(self::latest(&hooks, "/0", NOW)["calls"], 1);
}

#[test]
fn hooks_are_bounded_and_go_with_their_file() {
    let hooks = Hooks::default();
    for n in 0..PER_TENANT + 5 {
        hooks.count("acme", "claude", &[part(&format!("/{n}"))], "v", &json!({}), NOW);
    }
    assert!(!latest(&hooks, &format!("/{}", PER_TENANT - 1), NOW).is_null());
    assert!(latest(&hooks, &format!("/{PER_TENANT}"), NOW).is_null());
    // Without a loaded hook set, nothing is known to be gone.
    hooks.retain(&HashMap::from([("acme".to_owned(), None)]));
    assert!(!latest(&hooks, "/0", NOW).is_null());
    let known = HashMap::from([("acme".to_owned(), Some(HashSet::from([("claude", Arc::from("/1"))])))]);
    hooks.retain(&known);
    assert!(latest(&hooks, "/0", NOW).is_null() && !latest(&hooks, "/1", NOW).is_null());
    assert_eq!(hooks.state.lock().unwrap().hooks, 1);
    assert_eq!(hooks.json("other", "claude", "/1", NOW), Value::Null);
}

#[test]
fn counters_continue_after_a_restart() {
    let hooks = Hooks::default();
    let failed = Part { failure: Some(("fuel", "out of fuel".into())), ..part("/0") };
    for minute in 0..60 {
        hooks.count("acme", "claude", std::slice::from_ref(&failed), "v", &json!({}), NOW + minute * 60_000);
    }
    let saved = serde_json::to_string(&hooks.to_save()).unwrap();
    let saved: Vec<SavedHook> = serde_json::from_str(&saved).unwrap();
    assert!(saved.iter().all(SavedHook::is_valid));
    let now = NOW + 60 * 60_000;
    let again = Hooks::from(saved);
    assert_eq!(latest(&again, "/0", now), latest(&hooks, "/0", now));
    again.count("acme", "claude", &[failed], "w", &json!({}), now);
    let told = latest(&again, "/0", now);
    assert_eq!((&told["since"], &told["failing"]["since"], &told["calls"]), (&json!(NOW), &json!(NOW), &json!(61)));
}

#[test]
fn the_hooks_that_were_called_last_are_saved() {
    let hooks = Hooks::default();
    for tenant in 0..6 {
        for n in 0..PER_TENANT {
            let at = NOW + i64::from(tenant);
            hooks.count(&format!("t{tenant}"), "claude", &[part(&format!("/{n}"))], "v", &json!({}), at);
        }
    }
    let again = Hooks::from(hooks.to_save());
    assert_eq!(again.state.lock().unwrap().hooks, SAVED);
    assert!(again.json("t0", "claude", "/0", NOW).is_null() && !again.json("t5", "claude", "/0", NOW).is_null());
}

#[test]
fn a_new_component_is_a_change() {
    let hooks = Hooks::default();
    hooks.count("acme", "claude", &[part("/0")], "v", &json!({}), NOW);
    hooks.count("acme", "claude", &[part("/0")], "v", &json!({}), NOW + 1);
    assert_eq!(latest(&hooks, "/0", NOW)["changed"], NOW);
    let other = Part { digest: Some("bb".into()), ..part("/0") };
    hooks.count("acme", "claude", &[other], "v", &json!({}), NOW + 2);
    assert_eq!(latest(&hooks, "/0", NOW)["changed"], NOW + 2);
    assert_eq!(latest(&hooks, "/0", NOW)["day"].as_array().unwrap().len(), 96);
}
