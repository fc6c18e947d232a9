//! decisions.md#order-and-rewrites: "concurrently, at most `maxConcurrentHooks` (5); merged in registration order,
//! never in finishing order".
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hookbox::{Callback, HookSet, StandaloneBuilder, Verdict, config::Config};
use serde_json::{Value, json};
use tokio::{
    sync::{Barrier, Notify},
    time::{sleep, timeout},
};

const EVENT: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

/// The limit of a test whose hooks wait for each other.
const PATIENCE: Duration = Duration::from_secs(20);

fn blade(hooks: Value) -> StandaloneBuilder {
    let text = json!({ "dialect": "blade", "hooks": hooks }).to_string();
    let loaded = Config::parse(&text, Path::new("hooks.json"), None).unwrap_or_else(|e| panic!("{e}"));
    HookSet::standalone().config(loaded.config)
}

async fn judge(builder: StandaloneBuilder) -> Verdict {
    let host = builder.build().await.unwrap();
    timeout(PATIENCE, host.dispatch(EVENT)).await.expect("the hooks wait for each other").unwrap()
}

fn deny(reason: impl ToString) -> Result<Value, String> {
    let reason = reason.to_string();
    let specific =
        json!({ "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason });
    Ok(json!({ "hookSpecificOutput": specific }))
}

fn reason(verdict: &Verdict) -> &str {
    verdict.wire.as_ref().unwrap()["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap()
}

/// The number of calls that run now, and the highest number so far.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    async fn during(&self, time: Duration) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        sleep(time).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn never_more_than_the_bound_run_at_once() {
    for bound in [1, 2, 3] {
        let gauge = Arc::new(Gauge::default());
        let mut builder = blade(json!({ "maxConcurrentHooks": bound }));
        for number in 0..5_u64 {
            let gauge = gauge.clone();
            builder = builder.callback(Callback::new("PreToolUse", move |_| {
                let gauge = gauge.clone();
                async move {
                    gauge.during(Duration::from_millis(20 + 10 * (number % 2))).await;
                    Ok(Value::Null)
                }
            }));
        }
        judge(builder).await;
        assert_eq!(gauge.most.load(Ordering::SeqCst), bound);
    }
}

#[tokio::test]
async fn never_more_commands_than_the_bound_run_at_once() {
    let dir = tempfile::tempdir().unwrap();
    // Each command creates a file, prints how many there are, and removes it.
    let command = |number: usize| {
        let dir = dir.path().display();
        let script =
            format!("cd '{dir}' && : > on.{number} && sleep 0.2 && ls on.* | wc -l > seen.{number}; rm on.{number}");
        json!({ "type": "command", "command": script })
    };
    let commands: Vec<Value> = (0..5).map(command).collect();
    judge(blade(json!({ "maxConcurrentHooks": 2, "PreToolUse": [{ "hooks": commands }] }))).await;
    let seen = |number: usize| {
        let text = std::fs::read_to_string(dir.path().join(format!("seen.{number}"))).unwrap();
        text.trim().parse::<usize>().unwrap()
    };
    let most = (0..5).map(seen).max();
    assert_eq!(most, Some(2));
}

#[tokio::test]
async fn five_hooks_run_concurrently_by_default() {
    let (all_here, sixth) = (Arc::new(Barrier::new(5)), Arc::new(AtomicUsize::new(0)));
    let mut builder = blade(json!({}));
    for number in 0..6 {
        let (all_here, sixth) = (all_here.clone(), sixth.clone());
        builder = builder.callback(Callback::new("PreToolUse", move |_| {
            let (all_here, sixth) = (all_here.clone(), sixth.clone());
            async move {
                if number < 5 {
                    assert_eq!(sixth.load(Ordering::SeqCst), 0, "the sixth ran before there was room");
                    all_here.wait().await;
                } else {
                    sixth.store(1, Ordering::SeqCst);
                }
                Ok(Value::Null)
            }
        }));
    }
    let verdict = judge(builder).await;
    assert!(!verdict.any_failed());
    assert_eq!(sixth.load(Ordering::SeqCst), 1);
}

/// The first hook waits for the last. Meanwhile the others must run beside it, one after another.
#[tokio::test]
async fn a_slow_hook_takes_one_permit_only() {
    let last_ran = Arc::new(Notify::new());
    let mut builder = blade(json!({ "maxConcurrentHooks": 2 }));
    for number in 0..5 {
        let last_ran = last_ran.clone();
        builder = builder.callback(Callback::new("PreToolUse", move |_| {
            let last_ran = last_ran.clone();
            async move {
                match number {
                    0 => last_ran.notified().await,
                    4 => last_ran.notify_one(),
                    _ => {}
                }
                deny(number)
            }
        }));
    }
    assert_eq!(reason(&judge(builder).await), "0\n1\n2\n3\n4");
}

#[tokio::test]
async fn merging_does_not_depend_on_the_order_of_finishing() {
    for sleeps in [[0_u64, 20, 40, 60, 80], [80, 60, 40, 20, 0], [40, 0, 80, 20, 60]] {
        for bound in [2, 5] {
            let mut builder = blade(json!({ "maxConcurrentHooks": bound }));
            for (number, time) in sleeps.into_iter().enumerate() {
                builder = builder.callback(Callback::new("PreToolUse", move |_| async move {
                    sleep(Duration::from_millis(time)).await;
                    deny(number)
                }));
            }
            assert_eq!(reason(&judge(builder).await), "0\n1\n2\n3\n4", "{sleeps:?}, {bound} at once");
        }
    }
}
