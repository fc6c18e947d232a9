//! State in a real Redis (or Valkey) server, which several daemons share. `.ci/run` installs it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use hookbox::capability::{
    StateError,
    state::{ENTRY_BYTES, Namespace, RedisStore, SessionKeys, Space, SqliteStore, Store},
};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, PATIENCE, bash, denies, limit, with_state};

/// A server for one test, on a socket.
pub struct Server {
    child: Child,
    folder: PathBuf,
}

impl Server {
    pub fn start(folder: &Path) -> Self {
        Self::with(folder, &["--port", "0"])
    }

    pub fn with(folder: &Path, more: &[&str]) -> Self {
        let program = ["valkey-server", "redis-server"]
            .into_iter()
            .find(|program| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok())
            .expect("valkey-server or redis-server, from the package of that name");
        let mut command = Command::new(program);
        command.args(more).args(["--save", "", "--appendonly", "no", "--unixsocket", "redis.sock", "--dir"]);
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

/// The files of a daemon with a rate limit beside the guard, and with its state in that server.
pub fn limited_files(url: &str, max: u32) -> Files {
    let files = Files::new();
    files.settings(json!({ "state": url }));
    files.component("limit.wasm", "rate-limit");
    files.write("tenants/acme.json", &with_state("acme", json!({})));
    let guard = json!({ "type": "wasm", "component": "guard.wasm", "authority": { "decide": ["deny"] } });
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [limit(max), guard] } ] } }));
    files
}

fn limited(url: &str, max: u32) -> Daemon {
    limited_files(url, max).start()
}

/// Returns the number of hook failures so far.
pub async fn failed(daemon: &Daemon) -> usize {
    let text = daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let failed = |line: &&str| line.starts_with("hookbox_hook_calls_total") && line.contains(r#"verdict="failed""#);
    text.lines().filter(failed).filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum()
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
async fn only_hooks_with_state_fail_if_the_store_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let daemon = limited(&server.url(), 1000);
    assert_eq!(daemon.verdict("acme", bash("ls")).await, json!({}));
    assert_eq!(failed(&daemon).await, 0);
    drop(server);
    // The hook fails, and its failure policy does not block.
    assert_eq!(daemon.verdict("acme", bash("ls")).await, json!({}));
    assert_eq!(failed(&daemon).await, 1);
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
        tenant_bytes: None,
        deadline: Instant::now() + PATIENCE,
    }
}

#[tokio::test]
async fn the_store_follows_its_trait() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let store = RedisStore::new(&server.url()).unwrap();
    let (a, b) = (space("a", 3), space("b", 3));
    store.set(&a, "k", "v\0é", None).await.unwrap();
    assert_eq!(store.get(&a, "k").await.unwrap().as_deref(), Some("v\0é"));
    assert_eq!(store.get(&b, "k").await.unwrap(), None);
    // Counters are 64-bit integers.
    assert_eq!(store.increment(&a, "n", i64::MAX - 1, None).await, Ok(i64::MAX - 1));
    assert_eq!(store.increment(&a, "n", 1, None).await, Ok(i64::MAX));
    assert_eq!(store.increment(&a, "n", 1, None).await, Err(StateError::NotANumber));
    assert_eq!(store.increment(&a, "k", 1, None).await, Err(StateError::NotANumber));
    // Compare and swap.
    assert_eq!(store.compare_and_swap(&a, "s", None, "1", None).await, Ok(true));
    assert_eq!(store.compare_and_swap(&a, "s", None, "2", None).await, Ok(false));
    assert_eq!(store.compare_and_swap(&a, "s", Some("1"), "2", None).await, Ok(true));
    assert_eq!(store.compare_and_swap(&a, "s", Some("1"), "3", None).await, Ok(false));
    // The grant has three keys. An existing key can still be written.
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
    // Expired keys free their quota. The server's clock decides.
    store.set(&b, "short", "v", Some(1)).await.unwrap();
    let begin = Instant::now();
    while store.get(&b, "short").await.unwrap().is_some() {
        assert!(begin.elapsed() < PATIENCE);
    }
    assert_eq!(store.keys(&b, "").await.unwrap(), Vec::<String>::new());
    // A counter expires by the time of its first increment.
    assert_eq!(store.increment(&b, "c", 1, Some(u64::MAX)).await, Ok(1));
    assert_eq!(store.increment(&b, "c", 1, Some(1)).await, Ok(2));
    assert_eq!(store.increment(&b, "c", 1, None).await, Ok(3));
}

/// The quota that the names of `space("a", …)` take, besides keys and values.
const NAMES: u64 = ENTRY_BYTES + "hook:limitsession:a".len() as u64;

#[tokio::test]
async fn a_tenants_state_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let redis = RedisStore::new(&server.url()).unwrap();
    let sqlite = SqliteStore::new(folder.path().join("state.db"));
    for store in [&redis as &dyn Store, &sqlite] {
        bytes_are_bounded(store).await;
    }
}

async fn bytes_are_bounded(store: &dyn Store) {
    // Room for two values of 100 bytes.
    let limit = 2 * (NAMES + 1 + 100);
    let of =
        |tenant: &str, session: &str| Space { tenant: tenant.into(), tenant_bytes: Some(limit), ..space(session, 100) };
    let (a, b) = (of("t", "a"), of("t", "b"));
    let value = |length| "x".repeat(length);
    let refused =
        |result: Result<(), StateError>| matches!(result, Err(StateError::Quota(why)) if why.contains("bytes"));
    store.set(&a, "k", &value(100), None).await.unwrap();
    store.set(&b, "k", &value(100), None).await.unwrap();
    // Not one byte more, in any space and by any operation.
    assert!(refused(store.set(&a, "l", "", None).await));
    assert!(refused(store.set(&b, "k", &value(101), None).await));
    assert!(refused(store.increment(&a, "n", 1, None).await.map(drop)));
    assert!(refused(store.compare_and_swap(&a, "k", Some(&value(100)), &value(101), None).await.map(drop)));
    assert_eq!(store.get(&b, "k").await.unwrap(), Some(value(100)));
    assert_eq!(store.keys(&a, "").await.unwrap(), ["k"]);
    // A value of the same length can be written. Another tenant has its own quota, and a tenant without a bound has none.
    store.set(&a, "k", &value(100).replace('x', "y"), None).await.unwrap();
    store.set(&of("u", "a"), "k", &value(100), None).await.unwrap();
    store.set(&Space { tenant_bytes: None, ..of("t", "c") }, "k", "", None).await.unwrap();
    assert!(store.delete(&of("t", "c"), "k").await.unwrap());
    // A shorter value frees exactly the difference.
    let room = usize::try_from(NAMES + 1).unwrap();
    store.set(&a, "k", &value(100 - room), None).await.unwrap();
    assert_eq!(store.increment(&a, "", 9, None).await, Ok(9));
    assert!(refused(store.increment(&a, "", 1, None).await.map(drop)));
    assert_eq!(store.increment(&a, "", -1, None).await, Ok(8));
    assert!(store.delete(&a, "").await.unwrap() && store.delete(&b, "k").await.unwrap());
    // Expired keys free their quota too, even in a space that is no longer used.
    store.set(&b, "short", &value(97), Some(1)).await.unwrap();
    let begin = Instant::now();
    while refused(store.set(&a, "long", &value(97), None).await) {
        assert!(begin.elapsed() < PATIENCE);
    }
    assert!(refused(store.set(&b, "k", &value(100), None).await));
}

#[tokio::test]
async fn a_hooks_state_is_limited_by_its_tenants() {
    let files = Files::new();
    files.component("limit.wasm", "rate-limit");
    files.write("tenants/acme.json", &with_state("acme", json!({ "stateKiB": 0 })));
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [limit(10)] } ] } }));
    let daemon = files.start();
    // The rate limit denies, because it has no quota for its counter.
    assert!(denies(&daemon.verdict("acme", bash("ls")).await));
    daemon.files.write("tenants/acme.json", &with_state("acme", json!({})));
    daemon.until("loaded", async || daemon.log().matches("is loaded").count() == 2).await;
    assert!(!denies(&daemon.verdict("acme", bash("ls")).await));
}

/// A rate limit counts every request that was answered, even if the daemon is killed at any time.
#[tokio::test]
async fn a_kill_loses_no_state_that_was_acknowledged() {
    const MAX: usize = 200;
    const CLIENTS: usize = 8;
    let files = Files::new();
    files.component("limit.wasm", "rate-limit");
    files.write("tenants/acme.json", &with_state("acme", json!({})));
    let max = u32::try_from(MAX).unwrap();
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [limit(max)] } ] } }));
    let mut daemon = files.start();
    let mut let_through = 0;
    let kills = [1, 3, 10, 25, 40];
    for wanted in kills {
        // The daemon is killed while other requests still wait.
        let mut asked: tokio::task::JoinSet<_> =
            (0..CLIENTS + wanted).map(|_| daemon.ask("acme", bash("ls")).send()).collect();
        let mut told = 0;
        while let Some(response) = asked.join_next().await {
            // A request that was interrupted got no answer, but may have been counted.
            let Ok(response) = response.unwrap() else { continue };
            let Ok(body) = response.bytes().await else { continue };
            assert_eq!(body, "{}");
            let_through += 1;
            told += 1;
            if told == wanted {
                daemon.restart();
            }
        }
        assert!(told >= wanted);
    }
    // The remaining requests, one by one.
    while !denies(&daemon.verdict("acme", bash("ls")).await) {
        let_through += 1;
        assert!(let_through <= MAX, "more than {MAX} were let through: some were forgotten");
    }
    assert!(let_through + kills.len() * CLIENTS >= MAX, "{let_through}");
}
