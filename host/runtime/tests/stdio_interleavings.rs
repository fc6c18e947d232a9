//! Random lines in random order and pieces: each request with an id gets exactly one well-formed reply, and nothing
//! else is answered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use hookbox::{
    Callback, HookSet, async_trait,
    config::Config,
    transport::stdio::{Budget, Source, Unavailable, serve},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// A source with a single host.
struct Fixed(Arc<HookSet>);

#[async_trait]
impl Source for Fixed {
    async fn current(&self) -> Result<Arc<HookSet>, Unavailable> {
        Ok(Arc::clone(&self.0))
    }

    fn modes(&self) -> Vec<&'static str> {
        vec!["tool", "approve"]
    }

    async fn close(&self, grace: Duration) {
        self.0.close(grace).await;
    }
}

/// A host whose hook denies with the tool's name as the reason, after a varying delay.
async fn host() -> HookSet {
    let config = Config::parse(r#"{"dialect":"picoclaw","hooks":{}}"#, Path::new("hooks.json"), None).unwrap().config;
    let later = |event: &Value| event["id"].as_u64().unwrap_or_default().wrapping_mul(7) % 13;
    let deny = Callback::new("hook.before_tool", move |event: Value| async move {
        for _ in 0..later(&event) {
            tokio::task::yield_now().await;
        }
        Ok(json!({ "action": "deny_tool", "reason": event["params"]["tool"] }))
    });
    let approve = Callback::new("hook.approve_tool", move |event: Value| async move {
        for _ in 0..later(&event) {
            tokio::task::yield_now().await;
        }
        Ok(json!({ "approved": event["params"]["tool"] == "even" }))
    });
    HookSet::standalone().config(config).callback(deny).callback(approve).build().await.unwrap()
}

/// Marsaglia's xorshift: yields the same lines in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The lines to send, and a part of the expected reply for each id.
fn lines(random: &mut Random) -> (Vec<String>, BTreeMap<String, Value>) {
    let (mut lines, mut expected) = (Vec::new(), BTreeMap::new());
    for id in 1..=200 {
        let tool = format!("tool {id} {}", "é\u{1}\"".repeat(usize::try_from(random.below(40)).unwrap()));
        let (line, wanted) = match random.below(8) {
            0 | 1 => {
                let denied = json!({ "result": { "action": "deny_tool", "reason": tool } });
                (request(id, "hook.before_tool", &json!({ "tool": tool })), denied)
            }
            2 => (
                request(id, "hook.approve_tool", &json!({ "tool": "even" })),
                json!({ "result": { "approved": true } }),
            ),
            3 => (request(id, "hook.approve_tool", &json!({})), json!({ "result": { "approved": false } })),
            4 => (request(id, "hook.later", &json!({})), json!({ "error": { "code": -32601 } })),
            5 => (request(id, "hook.before_tool", &json!([])), json!({ "error": { "code": -32602 } })),
            6 => {
                let cut = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"hook.before_tool","params":{{"tool":"#);
                (cut, json!({ "error": { "code": -32700 } }))
            }
            _ => (request(id, "hook.hello", &json!({ "version": 1 })), json!({ "result": { "ok": true } })),
        };
        lines.push(line);
        expected.insert(id.to_string(), wanted);
        // None of these gets a reply.
        let noise = [
            "",
            "garbage",
            "[1]",
            "{\"jsonrpc\":",
            r#"{"jsonrpc":"2.0","method":"hook.event","params":{"Kind":8}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"hook.before_tool","params":{"tool":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"hook.runtime_event","params":{"kind":"agent.turn.start"}}"#,
            "\u{0}\u{7f}",
        ];
        for _ in 0..random.below(3) {
            lines.push(noise[usize::try_from(random.below(8)).unwrap()].to_owned());
        }
    }
    for place in (1..lines.len()).rev() {
        lines.swap(place, usize::try_from(random.below(place as u64 + 1)).unwrap());
    }
    (lines, expected)
}

/// Returns true if `whole` contains all of `part`.
fn holds(whole: &Value, part: &Value) -> bool {
    match part {
        Value::Object(members) => members.iter().all(|(key, part)| holds(&whole[key], part)),
        part => whole == part,
    }
}

async fn interleaved(seed: u64) {
    let mut random = Random(seed);
    let (lines, mut expected) = lines(&mut random);
    let text = lines.join("\n") + "\n";
    // Small pipes, so that both ends have to wait for each other.
    let (mut client, input) = tokio::io::duplex(1000);
    let (output, replies) = tokio::io::duplex(1000);
    let patient = Duration::from_mins(2);
    let budget = Budget { observer: patient, interceptor: patient, approval: patient };
    let source = Arc::new(Fixed(Arc::new(host().await)));
    let served =
        tokio::spawn(serve(source, budget, BufReader::new(input), output, std::future::pending(), Arc::new(|_| {})));
    let writing = tokio::spawn(async move {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(usize::try_from(1 + random.below(3000)).unwrap()));
            client.write_all(now).await.unwrap();
            rest = later;
        }
        client
    });
    let mut replies = BufReader::new(replies).lines();
    while !expected.is_empty() {
        let line = replies.next_line().await.unwrap().expect("a reply to each request");
        let reply: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("seed {seed}: {error}: {line}"));
        let wanted = expected.remove(&reply["id"].to_string());
        let wanted = wanted.unwrap_or_else(|| panic!("seed {seed}: nobody waits for {line}"));
        assert!(reply["jsonrpc"] == "2.0" && holds(&reply, &wanted), "seed {seed}: {line} is not {wanted}");
    }
    // The client closes its end, so no further reply follows.
    drop(writing.await.unwrap());
    assert_eq!(replies.next_line().await.unwrap(), None, "seed {seed}");
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn each_request_is_answered_once_however_lines_fall() {
    for seed in 1..=16 {
        interleaved(seed * 0x9E37_79B9).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_interleave_on_many_threads() {
    for seed in 1..=8 {
        interleaved(seed * 0x85EB_CA6B).await;
    }
}
