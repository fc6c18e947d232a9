//! The end of a `PicoClaw` server: pending requests are answered, and hooks that do not end are abandoned. Also tests a
//! client that does not read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use hookbox::{
    Callback, HookSet, async_trait,
    config::Config,
    transport::stdio::{Budget, Notice, Source, Unavailable, serve},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    sync::{Semaphore, oneshot},
    task::JoinHandle,
};

struct Fixed(Arc<HookSet>);

#[async_trait]
impl Source for Fixed {
    async fn current(&self) -> Result<Arc<HookSet>, Unavailable> {
        Ok(Arc::clone(&self.0))
    }

    fn modes(&self) -> Vec<&'static str> {
        vec!["tool"]
    }

    async fn close(&self, grace: Duration) {
        self.0.close(grace).await;
    }
}

/// A server with a hook that denies once the test allows it.
struct Stage {
    begun: Arc<Semaphore>,
    may: Arc<Semaphore>,
    client: DuplexStream,
    replies: BufReader<DuplexStream>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    async fn new() -> Self {
        let config =
            Config::parse(r#"{"dialect":"picoclaw","hooks":{}}"#, Path::new("hooks.json"), None).unwrap().config;
        let (begun, may) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (begins, goes_on) = (Arc::clone(&begun), Arc::clone(&may));
        let hook = Callback::new("hook.before_tool", move |_: Value| {
            let (begins, goes_on) = (Arc::clone(&begins), Arc::clone(&goes_on));
            async move {
                begins.add_permits(1);
                goes_on.acquire().await.unwrap().forget();
                Ok(json!({ "action": "deny_tool", "reason": "at last" }))
            }
        });
        let host = HookSet::standalone().config(config).callback(hook).build().await.unwrap();
        let (client, input) = tokio::io::duplex(1000);
        let (output, replies) = tokio::io::duplex(1000);
        let (stop, stopped) = oneshot::channel::<()>();
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let tell = Arc::new(move |line: Notice<'_>| {
            if let Notice::Line(line) = line {
                telling.lock().unwrap().push(line);
            }
        });
        let patient = Duration::from_mins(2);
        let budget = Budget { observer: patient, interceptor: patient, approval: patient };
        let stopped = async move {
            // Pending forever, unless the sender is used.
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let served =
            tokio::spawn(serve(Arc::new(Fixed(Arc::new(host))), budget, BufReader::new(input), output, stopped, tell));
        Self { begun, may, client, replies: BufReader::new(replies), stop, served, told }
    }

    async fn ask(&mut self, id: usize) {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "hook.before_tool", "params": { "tool": "exec" } });
        self.client.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
}

async fn line(replies: &mut BufReader<DuplexStream>) -> String {
    let mut line = String::new();
    replies.read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn pending_requests_are_answered_before_it_ends() {
    for by_stop in [false, true] {
        let mut stage = Stage::new().await;
        for id in 1..=3 {
            stage.ask(id).await;
        }
        drop(stage.begun.acquire_many(3).await.unwrap());
        let Stage { may, client, mut replies, stop, served, told, .. } = stage;
        // Later lines are not read any more.
        let client = if by_stop {
            stop.send(()).unwrap();
            Some(client)
        } else {
            drop(client);
            None
        };
        may.add_permits(3);
        let mut answered: Vec<u64> = Vec::new();
        for _ in 0..3 {
            let reply: Value = serde_json::from_str(&line(&mut replies).await).unwrap();
            assert_eq!(reply["result"]["reason"], "at last", "{reply}");
            answered.push(reply["id"].as_u64().unwrap());
        }
        answered.sort_unstable();
        assert_eq!(answered, [1, 2, 3]);
        assert_eq!(line(&mut replies).await, "");
        served.await.unwrap().unwrap();
        assert_eq!(*told.lock().unwrap(), Vec::<String>::new());
        drop(client);
    }
}

#[tokio::test]
async fn a_request_that_does_not_end_is_answered_as_a_failed_hook() {
    for by_stop in [false, true] {
        let mut stage = Stage::new().await;
        stage.ask(1).await;
        drop(stage.begun.acquire().await.unwrap());
        let Stage { client, mut replies, stop, served, told, .. } = stage;
        let client = if by_stop {
            stop.send(()).unwrap();
            Some(client)
        } else {
            drop(client);
            None
        };
        let reply: Value = serde_json::from_str(&line(&mut replies).await).unwrap();
        assert_eq!(reply["id"], 1, "{reply}");
        assert_ne!(reply["result"]["reason"], "at last", "{reply}");
        served.await.unwrap().unwrap();
        assert!(!told.lock().unwrap().iter().any(|line| line.contains("not answered")));
        drop(client);
    }
}

/// If a client does not read replies, the server stops reading after a bounded number of lines.
#[tokio::test]
async fn a_client_that_does_not_read_applies_backpressure() {
    let mut stage = Stage::new().await;
    stage.may.add_permits(Semaphore::MAX_PERMITS >> 1);
    let mut sent = 0;
    while tokio::time::timeout(Duration::from_secs(1), stage.ask(sent + 1)).await.is_ok() {
        sent += 1;
        // 256 requests are pending, 16 replies are queued, and the pipes hold 1,000 bytes.
        assert!(sent < 400, "nobody reads, and {sent} lines were taken");
    }
    assert!(!stage.served.is_finished());
    // The client reads at last: no reply was lost. The last line that it was writing is incomplete.
    for _ in 0..sent {
        let reply: Value = serde_json::from_str(&line(&mut stage.replies).await).unwrap();
        assert_eq!(reply["result"]["action"], "deny_tool", "{reply}");
    }
    // Or it goes away without reading.
    drop(stage.replies);
    let _ = tokio::time::timeout(Duration::from_secs(1), stage.client.write_all(b"\n")).await;
    stage.served.await.unwrap().unwrap();
}
