//! State in a real Redis (or Valkey) server, which several daemons share. `.ci/run` installs it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use hookbox::capability::{
    StateError,
    state::{Namespace, RedisStore, SessionKeys, Space, Store},
};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, PATIENCE, bash, denies, tenant};

/// A server of a test's own, on a socket.
struct Server {
    child: Child,
    folder: PathBuf,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let program = ["valkey-server", "redis-server"]
            .into_iter()
            .find(|program| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok())
            .expect("valkey-server or redis-server, from the package of that name");
        let mut command = Command::new(program);
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket", "redis.sock", "--dir"]);
        let child = command.arg(folder).stdout(Stdio::null()).current_dir(folder).spawn().unwrap();
        let server = Self { child, folder: folder.to_owned() };
        let begin = Instant::now();
        while std::os::unix::net::UnixStream::connect(folder.join("redis.sock")).is_err() {
            assert!(begin.elapsed() < PATIENCE, "it does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn url(&self) -> String {
        format!("redis+unix://{}", self.folder.join("redis.sock").display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A daemon with a rate limit beside the guard, and its state in that server.
fn limited(url: &str, max: u32) -> Daemon {
    let files = Files::new();
    files.settings(json!({ "state": url }));
    files.component("limit.wasm", "rate-limit");
    let mut owner = tenant("acme");
    owner["ceiling"] = json!({ "permissions": { "state": true }, "authority": { "decide": ["deny", "skip", "ask"] } });
    files.write("tenants/acme.json", &owner);
    let limit = json!({ "type": "wasm", "component": "limit.wasm", "permissions": { "state": true }, "config": { "max": max },
        "authority": { "decide": ["deny", "skip"] } });
    let guard = json!({ "type": "wasm", "component": "guard.wasm", "authority": { "decide": ["deny"] } });
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [limit, guard] } ] } }));
    files.start()
}

#[tokio::test]
async fn two_daemons_count_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let daemons = [limited(&server.url(), 40), limited(&server.url(), 40)];
    let asked = (0..100).map(|n: usize| daemons[n % 2].ask("acme", bash("ls")).send());
    let mut let_through = 0;
    for response in futures_util::future::join_all(asked).await {
        let_through += u32::from(!denies(&crate::daemon::read(response.unwrap()).await));
    }
    assert_eq!(let_through, 40);
}

#[tokio::test]
async fn when_the_store_is_away_only_hooks_that_need_it_fail() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let daemon = limited(&server.url(), 1000);
    let failed = async || {
        let text = daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap();
        text.lines()
            .filter(|line| line.starts_with("hookbox_hook_calls_total") && line.contains(r#"verdict="failed""#))
            .count()
    };
    assert_eq!(daemon.verdict("acme", bash("ls")).await, json!({}));
    assert_eq!(failed().await, 0);
    drop(server);
    // Which fails as it may: nothing says that it blocks.
    assert_eq!(daemon.verdict("acme", bash("ls")).await, json!({}));
    assert_eq!(failed().await, 1);
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    fs::remove_file(folder.path().join("redis.sock")).unwrap_or_default();
    let _server = Server::start(folder.path());
    let count = async || -> Value {
        let text = daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap();
        let ok = |line: &&str| line.contains(r#"hook="limit.wasm",verdict="nothing""#) && line.contains("calls_total");
        json!(text.lines().find(ok).and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok()))
    };
    let before = count().await;
    daemon
        .until("recovered", async || {
            daemon.verdict("acme", bash("ls")).await;
            count().await != before
        })
        .await;
}

fn space(session: &str, max_keys: u32) -> Space {
    Space {
        tenant: "acme".into(),
        namespace: Namespace::Hook("limit".into()),
        session: SessionKeys::One(Some(session.into())),
        max_keys,
        deadline: Instant::now() + PATIENCE,
    }
}

#[tokio::test]
async fn the_store_keeps_what_the_trait_promises() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let store = RedisStore::new(&server.url()).unwrap();
    let (a, b) = (space("a", 3), space("b", 3));
    store.set(&a, "k", "v\0é", None).await.unwrap();
    assert_eq!(store.get(&a, "k").await.unwrap().as_deref(), Some("v\0é"));
    assert_eq!(store.get(&b, "k").await.unwrap(), None);
    // Whole numbers of 64 bits, and no more.
    assert_eq!(store.increment(&a, "n", i64::MAX - 1, None).await, Ok(i64::MAX - 1));
    assert_eq!(store.increment(&a, "n", 1, None).await, Ok(i64::MAX));
    assert_eq!(store.increment(&a, "n", 1, None).await, Err(StateError::NotANumber));
    assert_eq!(store.increment(&a, "k", 1, None).await, Err(StateError::NotANumber));
    // Swaps.
    assert_eq!(store.compare_and_swap(&a, "s", None, "1", None).await, Ok(true));
    assert_eq!(store.compare_and_swap(&a, "s", None, "2", None).await, Ok(false));
    assert_eq!(store.compare_and_swap(&a, "s", Some("1"), "2", None).await, Ok(true));
    assert_eq!(store.compare_and_swap(&a, "s", Some("1"), "3", None).await, Ok(false));
    // Three keys are granted; one that is there can still be written.
    for refused in [
        store.set(&a, "x", "", None).await.map(drop),
        store.increment(&a, "x", 1, None).await.map(drop),
        store.compare_and_swap(&a, "x", None, "", None).await.map(drop),
    ] {
        assert!(matches!(refused, Err(StateError::Quota(_))), "{refused:?}");
    }
    store.set(&a, "k", "w", None).await.unwrap();
    assert_eq!(store.keys(&a, "").await.unwrap(), ["k", "n", "s"]);
    assert_eq!(store.keys(&a, "k").await.unwrap(), ["k"]);
    assert_eq!((store.delete(&a, "k").await, store.delete(&a, "k").await), (Ok(true), Ok(false)));
    // What ends makes room. The time is the server's.
    store.set(&b, "short", "v", Some(1)).await.unwrap();
    let begin = Instant::now();
    while store.get(&b, "short").await.unwrap().is_some() {
        assert!(begin.elapsed() < PATIENCE);
    }
    assert_eq!(store.keys(&b, "").await.unwrap(), Vec::<String>::new());
    // A counter's time is that of its first step.
    assert_eq!(store.increment(&b, "c", 1, Some(u64::MAX)).await, Ok(1));
    assert_eq!(store.increment(&b, "c", 1, Some(1)).await, Ok(2));
    assert_eq!(store.increment(&b, "c", 1, None).await, Ok(3));
}
