//! The state store: the guarantees of each call, within one process and between processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox::{
    capability::{
        CallUsage, Scope, State, StateError,
        state::{HookState, MAX_KEY_BYTES, MAX_WRITTEN_BYTES, SqliteStore},
    },
    sandbox::permission::{StateDetails, StateGrant},
};

fn state(file: &Path, details: StateDetails) -> HookState {
    HookState::granted(Arc::new(SqliteStore::new(file)), &StateGrant::Detailed(details)).unwrap()
}

fn scope(tenant: &str, hook: &str, session: Option<&str>) -> Scope {
    Scope {
        tenant: tenant.into(),
        hook: hook.into(),
        session: session.map(str::to_owned),
        deadline: Instant::now() + Duration::from_mins(1),
        spent: CallUsage::default(),
    }
}

#[tokio::test]
async fn every_call_follows_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let (state, scope) = (state(&folder.path().join("s.db"), StateDetails::default()), scope("t", "h", None));

    assert_eq!(state.get(&scope, "a").await, Ok(None));
    state.set(&scope, "a", "one", None).await.unwrap();
    assert_eq!(state.get(&scope, "a").await.unwrap().as_deref(), Some("one"));
    assert_eq!(state.delete(&scope, "a").await, Ok(true));
    assert_eq!(state.delete(&scope, "a").await, Ok(false));

    assert_eq!(state.increment(&scope, "n", 5, None).await, Ok(5));
    assert_eq!(state.increment(&scope, "n", -7, None).await, Ok(-2));
    assert_eq!(state.get(&scope, "n").await.unwrap().as_deref(), Some("-2"));
    state.set(&scope, "n", "2.5", None).await.unwrap();
    assert_eq!(state.increment(&scope, "n", 1, None).await, Err(StateError::NotANumber));
    state.set(&scope, "n", &i64::MAX.to_string(), None).await.unwrap();
    assert_eq!(state.increment(&scope, "n", 1, None).await, Err(StateError::NotANumber));
    assert_eq!(state.get(&scope, "n").await.unwrap(), Some(i64::MAX.to_string()), "an overflow changes nothing");

    assert_eq!(state.compare_and_swap(&scope, "c", Some("x"), "y", None).await, Ok(false));
    assert_eq!(state.compare_and_swap(&scope, "c", None, "x", None).await, Ok(true));
    assert_eq!(state.compare_and_swap(&scope, "c", None, "z", None).await, Ok(false));
    assert_eq!(state.compare_and_swap(&scope, "c", Some("x"), "y", None).await, Ok(true));
    assert_eq!(state.get(&scope, "c").await.unwrap().as_deref(), Some("y"));
}

#[tokio::test]
async fn keys_are_found_by_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (state, scope) = (state(&folder.path().join("s.db"), StateDetails::default()), scope("t", "h", None));
    for key in ["b", "a%", "a_", "a\0b", "a", "ä", "a\u{10ffff}", "", "A"] {
        state.set(&scope, key, key, None).await.unwrap();
    }
    assert_eq!(state.keys(&scope, "a").await.unwrap(), ["a", "a\0b", "a%", "a_", "a\u{10ffff}"]);
    assert_eq!(state.keys(&scope, "a\0").await.unwrap(), ["a\0b"]);
    assert_eq!(state.keys(&scope, "%").await.unwrap(), Vec::<String>::new());
    assert_eq!(state.keys(&scope, "").await.unwrap().len(), 9);
    assert_eq!(state.get(&scope, "a\0b").await.unwrap().as_deref(), Some("a\0b"));
}

#[tokio::test]
async fn an_expired_value_is_absent() {
    let folder = tempfile::tempdir().unwrap();
    let grant = StateDetails { max_keys: 5, ..StateDetails::default() };
    let (state, scope) = (state(&folder.path().join("s.db"), grant), scope("t", "h", None));
    for key in ["get", "delete", "increment", "swap", "keys"] {
        state.set(&scope, key, "7", Some(30)).await.unwrap();
    }
    assert_eq!(state.increment(&scope, "increment", 1, Some(60_000)).await, Ok(8), "keeps the time it has left");
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(state.get(&scope, "get").await, Ok(None));
    assert_eq!(state.delete(&scope, "delete").await, Ok(false));
    assert_eq!(state.increment(&scope, "increment", 1, None).await, Ok(1));
    assert_eq!(state.compare_and_swap(&scope, "swap", Some("7"), "8", None).await, Ok(false));
    assert_eq!(state.compare_and_swap(&scope, "swap", None, "8", None).await, Ok(true));
    assert_eq!(state.keys(&scope, "").await.unwrap(), ["increment", "swap"]);
    for key in ["now", "there", "is room"] {
        state.set(&scope, key, "", Some(u64::MAX)).await.unwrap();
    }
    state.set(&scope, "now", "", Some(0)).await.unwrap();
    assert_eq!(state.get(&scope, "now").await, Ok(None));
}

#[tokio::test]
async fn a_hook_holds_no_more_than_granted() {
    let folder = tempfile::tempdir().unwrap();
    let grant = StateDetails { max_keys: 2, max_value_kib: 1, ..StateDetails::default() };
    let (state, scope) = (state(&folder.path().join("s.db"), grant), scope("t", "h", None));
    let quota = |result| assert!(matches!(result, Err(StateError::Quota(_))), "{result:?}");

    state.set(&scope, &"k".repeat(MAX_KEY_BYTES), &"v".repeat(1024), None).await.unwrap();
    quota(state.set(&scope, &"k".repeat(MAX_KEY_BYTES + 1), "", None).await);
    quota(state.set(&scope, "long", &"v".repeat(1025), None).await);
    quota(state.compare_and_swap(&scope, "long", None, &"v".repeat(1025), None).await.map(drop));
    state.increment(&scope, "second", 1, None).await.unwrap();
    quota(state.set(&scope, "third", "", None).await);
    quota(state.increment(&scope, "third", 1, None).await.map(drop));
    quota(state.compare_and_swap(&scope, "third", None, "", None).await.map(drop));
    state.set(&scope, "second", "old keys can still be set", None).await.unwrap();
    state.delete(&scope, "second").await.unwrap();
    state.set(&scope, "third", "", None).await.unwrap();
}

#[tokio::test]
async fn no_choice_of_names_reaches_anothers_keys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.db");
    let own = |per_session| state(&file, StateDetails { per_session, ..StateDetails::default() });
    let shared = |name: &str| {
        state(&file, StateDetails { namespace: Some(name.into()), per_session: false, ..StateDetails::default() })
    };
    // Each scope writes its own value to the key `k`. The names are chosen to collide if they were joined.
    let everybody = [
        (own(false), scope("a", "b", None), "k"),
        (own(false), scope("a", "b\0k", None), "k"),
        (own(false), scope("a\0b", "", None), "k"),
        (own(false), scope("", "a/b", None), "k"),
        (own(false), scope("a", "b:", None), "k"),
        (own(false), scope("a", "shared:b", None), "k"),
        (own(false), scope("a", "café", None), "k"),
        (own(false), scope("a", "cafe\u{301}", None), "k"),
        (own(true), scope("a", "b", None), "k"),
        (own(true), scope("a", "b", Some("")), "k"),
        (own(true), scope("a", "b", Some("session")), "k"),
        (own(true), scope("a", "b", Some("' OR 1=1 --")), "k"),
        (shared("b"), scope("a", "b", None), "k"),
        (shared("hook:b"), scope("a", "b", None), "k"),
        (own(false), scope("a", "b", None), "b\0k"),
        (own(false), scope("a", "b", None), "../a/k"),
    ];
    for (index, (state, scope, key)) in everybody.iter().enumerate() {
        assert_eq!(state.get(scope, key).await, Ok(None), "writer {index} sees another's value");
        state.set(scope, key, &index.to_string(), None).await.unwrap();
    }
    for (index, (state, scope, key)) in everybody.iter().enumerate() {
        assert_eq!(state.get(scope, key).await, Ok(Some(index.to_string())));
    }
    let other = scope("a", "another hook", None);
    assert_eq!(shared("b").get(&other, "k").await, Ok(Some("12".into())), "a shared namespace is shared");
    assert_eq!(shared("b").get(&scope("z", "b", None), "k").await, Ok(None), "but not among tenants");
}

#[tokio::test]
async fn the_store_is_private_and_reports_its_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made/for/us/state.db");
    state(&file, StateDetails::default()).set(&scope("t", "h", None), "k", "v", None).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&file.with_extension("db-wal")), 0o600);

    let broken = folder.path().join("broken.db");
    std::fs::write(&broken, "this is not a database, it is a text of more than a hundred characters. ".repeat(20))
        .unwrap();
    let error = state(&broken, StateDetails::default()).get(&scope("t", "h", None), "k").await.unwrap_err();
    assert!(matches!(&error, StateError::Unavailable(why) if why.contains("broken.db")), "{error}");
}

#[tokio::test]
async fn a_locked_file_is_waited_for_until_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.db");
    let state = state(&file, StateDetails::default());
    state.set(&scope("t", "h", None), "k", "v", None).await.unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let started = Instant::now();
    let short = Scope { deadline: started + Duration::from_millis(100), ..scope("t", "h", None) };
    let error = state.set(&short, "k", "w", None).await.unwrap_err();
    assert!(matches!(error, StateError::Unavailable(_)), "{error}");
    assert!((100..1000).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    assert_eq!(state.get(&scope("t", "h", None), "k").await.unwrap().as_deref(), Some("v"), "readers do not wait");
    other.execute_batch("COMMIT").unwrap();
    state.set(&scope("t", "h", None), "k", "w", None).await.unwrap();
}

/// The code of the child processes: this test binary, with a file and a task in its environment.
#[test]
#[ignore = "the tests below start it"]
fn child() {
    let (file, task) = (std::env::var("STATE_FILE").unwrap(), std::env::var("STATE_TASK").unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (state, scope) = (state(Path::new(&file), StateDetails::default()), scope("t", "h", None));
        match task.as_str() {
            "count" => {
                for _ in 0..1_000 {
                    state.increment(&scope, "counter", 1, None).await.unwrap();
                }
            }
            _ => {
                for n in 0u64.. {
                    state.set(&scope, &format!("{n}"), "v", None).await.unwrap();
                    println!("\nacknowledged {n}");
                    std::io::stdout().flush().unwrap();
                }
            }
        }
    });
}

fn spawn(file: &Path, task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--ignored"])
        .envs([("STATE_FILE", file.as_os_str()), ("STATE_TASK", task.as_ref())])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// "50 processes incrementing one counter 1,000 times each end at exactly 50,000". The file does not exist at first, so
/// they also race to create it.
#[tokio::test]
async fn fifty_processes_count_to_fifty_thousand() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.db");
    let children: Vec<Child> = (0..50).map(|_| spawn(&file, "count")).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let counter = state(&file, StateDetails::default()).get(&scope("t", "h", None), "counter").await.unwrap();
    assert_eq!(counter.as_deref(), Some("50000"));
}

/// "survives kill -9 without losing an acknowledged write".
#[tokio::test]
async fn a_killed_process_loses_no_acknowledged_write() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let file = folder.path().join(format!("{round}.db"));
        let mut child = spawn(&file, "acknowledge");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let number = |line: &String| line.strip_prefix("acknowledged ").map(str::to_owned);
        let mut acknowledged: BTreeSet<String> = lines.by_ref().filter_map(|l| number(&l)).take(200).collect();
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        acknowledged.extend(lines.filter_map(|l| number(&l)));
        assert!(acknowledged.len() >= 200);
        let kept = state(&file, StateDetails::default()).keys(&scope("t", "h", None), "").await.unwrap();
        let kept: BTreeSet<String> = kept.into_iter().collect();
        assert!(acknowledged.is_subset(&kept), "lost: {:?}", acknowledged.difference(&kept).collect::<Vec<_>>());
    }
}

/// Only the user may access the store's file, as with the cache, because it holds the state of hooks.
#[tokio::test]
async fn a_store_that_others_can_write_to_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (inner, scope) = (folder.path().join("inner"), scope("t", "h", None));
    let set = async |file: &Path| state(file, StateDetails::default()).set(&scope, "k", "v", None).await;
    set(&inner.join("s.db")).await.unwrap();
    for (path, usual) in [(inner.clone(), 0o700), (inner.join("s.db"), 0o600)] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(usual | 0o022)).unwrap();
        let error = set(&inner.join("s.db")).await.unwrap_err().to_string();
        assert!(error.contains("others may write to it"), "{error}");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(usual)).unwrap();
    }
    set(&inner.join("s.db")).await.unwrap();
    std::os::unix::fs::symlink(&inner, folder.path().join("link")).unwrap();
    assert!(set(&folder.path().join("link/s.db")).await.is_err());
    std::fs::create_dir(inner.join("folder.db")).unwrap();
    assert!(set(&inner.join("folder.db")).await.is_err());
}

/// `SQLite` cannot restart the journal while there is a reader. The journal still grows only up to a limit, and shrinks
/// again.
#[tokio::test]
async fn the_journal_does_not_grow_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.db");
    let (state, value) = (state(&file, StateDetails::default()), "v".repeat(60 << 10));
    let journal = || std::fs::metadata(folder.path().join("s.db-wal")).unwrap().len();
    state.set(&scope("t", "h", None), "0", &value, None).await.unwrap();

    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    let mut refused = None;
    for n in 0..1_000_u32 {
        let call = Scope { deadline: Instant::now() + Duration::from_secs(1), ..scope("t", "h", None) };
        // A different value each time, because an unchanged page would not be written.
        let value = char::from_digit(n % 36, 36).unwrap().to_string().repeat(60 << 10);
        if let Err(error) = state.set(&call, &format!("{}", n % 8), &value, None).await {
            refused = Some(error);
            break;
        }
    }
    assert!(matches!(&refused, Some(StateError::Unavailable(why)) if why.contains("journal is full")), "{refused:?}");
    assert!(journal() < 33 << 20, "{} bytes beside the store", journal());

    drop(reader);
    state.set(&scope("t", "h", None), "0", &value, None).await.unwrap();
    assert!(journal() < 5 << 20, "{} bytes are left beside the store", journal());
}

#[tokio::test]
async fn the_writes_of_a_call_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(&folder.path().join("s.db"), StateDetails::default());
    let (call, value) = (scope("t", "h", None), "v".repeat(60 << 10));
    let mut written = 0;
    let refused = loop {
        match state.set(&call, "the same key", &value, None).await {
            Ok(()) => written += value.len(),
            Err(error) => break error,
        }
    };
    assert!(matches!(&refused, StateError::Quota(why) if why.contains("one call may write")), "{refused}");
    assert!(written <= MAX_WRITTEN_BYTES && written > MAX_WRITTEN_BYTES - (64 << 10), "{written}");
    state.set(&scope("t", "h", None), "k", "the next call may", None).await.unwrap();
}
