//! Guests that try to access keys of others, with a real store.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox::{
    Cause, Limits, Permissions, Run,
    capability::{
        CallUsage, Capabilities, Scope, State, StateError,
        state::{HookState, SqliteStore},
    },
    sandbox::permission::{StateDetails, StateGrant},
};

use crate::stage::{Guest, hex, importing};

const SET: &str = r#"
    (import "hookbox:hooks/state@0.2.0" "set" (func $set (param i32 i32 i32 i32 i32 i64 i32)))
    (import "hookbox:hooks/state@0.2.0" "keys" (func $keys (param i32 i32 i32)))"#;

fn grant() -> StateDetails {
    StateDetails { max_keys: 5, max_value_kib: 1, ..StateDetails::default() }
}

fn state(folder: &Path, grant: StateDetails) -> HookState {
    HookState::granted(Arc::new(SqliteStore::new(folder.join("state.db"))), &StateGrant::Detailed(grant)).unwrap()
}

/// The scope of another hook, tenant or session.
fn scope(tenant: &str, hook: &str) -> Scope {
    Scope {
        tenant: tenant.into(),
        hook: hook.into(),
        session: None,
        deadline: Instant::now() + Duration::from_secs(20),
        spent: CallUsage::default(),
    }
}

/// A guest of the tenant `default` and the hook `guest`.
fn guest(body: &str, data: &str, folder: &Path, grant: StateDetails) -> Guest {
    let items = format!("{SET} {data}");
    let permissions = Permissions { state: Some(StateGrant::Enabled(true)), ..Permissions::default() };
    let mut guest = importing(body, &items, "import hookbox:hooks/state@0.2.0;", "").granted(permissions, folder);
    guest.capabilities = Capabilities { state: Some(Arc::new(state(folder, grant))), ..Capabilities::default() };
    guest
}

/// Calls `set(key, value)`. It has the key's address and length, and the value's length. The result is at 8192.
fn set(key: &str, length: &str, value: u32) -> String {
    format!(
        "(call $set {key} {length} (i32.const 4096) (i32.const {value}) (i32.const 0) (i64.const 0) (i32.const 8192))"
    )
}

/// Traps unless the result is `err(quota)`.
const OVER_QUOTA: &str =
    "(if (i32.or (i32.ne (i32.load8_u (i32.const 8192)) (i32.const 1)) (i32.load8_u (i32.const 8196)))
    (then (unreachable)))";
/// Traps unless the result is `ok`.
const STORED: &str = "(if (i32.load8_u (i32.const 8192)) (then (unreachable)))";

async fn run(guest: Guest) -> Run {
    guest.run().await.unwrap()
}

/// Writes one-letter keys from `A` on.
fn flood(keys: u32) -> String {
    let set = set("(i32.const 4096)", "(i32.const 1)", 4);
    format!(
        "(local $i i32) (loop $again
            (i32.store8 (i32.const 4096) (i32.add (i32.const 65) (local.get $i))) {set}
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $i) (i32.const {keys}))))"
    )
}

/// The guest writes each name as a key, with the value `xxxx`.
async fn writes(names: &[&str], folder: &Path) {
    for name in names {
        let hex = hex(name.as_bytes());
        let data = format!(r#"(data (i32.const 4096) "{}") (data (i32.const 5000) "{hex}")"#, "x".repeat(4));
        let body = format!("{} {STORED}", set("(i32.const 5000)", &format!("(i32.const {})", name.len()), 4));
        let report = run(guest(&body, &data, folder, StateDetails::default())).await;
        assert!(report.result.is_ok(), "{name:?}: {report:?}");
    }
}

hostile_tests! {
    async fn more_keys_than_granted() {
        let folder = tempfile::tempdir().unwrap();
        let report = run(guest(&format!("{} {OVER_QUOTA}", flood(20)), "", folder.path(), grant())).await;
        assert!(report.result.is_ok(), "{report:?}");
        let state = state(folder.path(), grant());
        assert_eq!(state.keys(&scope("default", "guest"), "").await.unwrap(), ["A", "B", "C", "D", "E"]);
        state.set(&scope("default", "neighbour"), "key", "value", None).await.unwrap();
    }
    async fn a_value_longer_than_granted() {
        let folder = tempfile::tempdir().unwrap();
        let body = format!("{} {OVER_QUOTA}", set("(i32.const 5000)", "(i32.const 1)", 1025));
        let report = run(guest(&body, "", folder.path(), grant())).await;
        assert!(report.result.is_ok(), "{report:?}");
        assert!(state(folder.path(), grant()).keys(&scope("default", "guest"), "").await.unwrap().is_empty());
    }
    async fn a_key_longer_than_there_can_be() {
        let folder = tempfile::tempdir().unwrap();
        let body = format!("{} {OVER_QUOTA}", set("(i32.const 5000)", "(i32.const 1025)", 1));
        let report = run(guest(&body, "", folder.path(), grant())).await;
        assert!(report.result.is_ok(), "{report:?}");
    }
    async fn a_value_larger_than_the_host_takes() {
        let folder = tempfile::tempdir().unwrap();
        let body = format!("(drop (memory.grow (i32.const 200))) {}", set("(i32.const 5000)", "(i32.const 1)", 12 << 20));
        let report = run(guest(&body, "", folder.path(), grant())).await;
        assert_eq!(report.result.unwrap_err().cause, Cause::OutputTooLarge);
    }
    async fn writes_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let body = format!("(loop $again {} (br $again))", set("(i32.const 5000)", "(i32.const 1)", 1));
        let mut guest = guest(&body, "", folder.path(), grant());
        guest.limits = Limits { host_calls: 30, ..Limits::default() };
        assert_eq!(run(guest).await.result.unwrap_err().cause, Cause::TooManyHostCalls);
        let neighbour = state(folder.path(), grant());
        neighbour.set(&scope("other", "guest"), "key", "value", None).await.unwrap();
    }
    async fn writes_until_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let body = format!("(loop $again {} (br $again))", set("(i32.const 5000)", "(i32.const 1)", 1));
        let guest = guest(&body, "", folder.path(), grant()).limits(Limits { host_calls: u32::MAX, ..Limits::default() });
        assert_eq!(run(guest.until(50)).await.result.unwrap_err().cause, Cause::Timeout);
        let neighbour = state(folder.path(), grant());
        neighbour.set(&scope("other", "guest"), "key", "value", None).await.unwrap();
    }
    /// Names that would be keys of another tenant, hook or session if a store joined the parts to one text.
    async fn keys_that_look_like_anothers() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (state(folder.path(), grant()), scope("other", "guest"));
        own.set(&other, "secret", "kept", None).await.unwrap();
        writes(&["secret", "other/guest/secret", "other\0guest\0secret", "../../other/guest/secret", "hook:guest:secret",
            "shared:secret", "session:s:secret"], folder.path()).await;
        assert_eq!(own.get(&other, "secret").await.unwrap().as_deref(), Some("kept"));
        for (tenant, hook) in [("other", "guest"), ("default", "neighbour"), ("", ""), ("default/guest", "")] {
            let seen = own.keys(&scope(tenant, hook), "").await.unwrap();
            assert!(seen.is_empty() || (tenant == "other" && seen == ["secret"]), "{tenant} {hook}: {seen:?}");
        }
    }
    async fn keys_that_are_sql() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (state(folder.path(), grant()), scope("other", "guest"));
        own.set(&other, "secret", "kept", None).await.unwrap();
        writes(&["' OR '1'='1", "\"; DROP TABLE state; --", "%", "_", "*", "[a-z]"], folder.path()).await;
        assert_eq!(own.get(&other, "secret").await.unwrap().as_deref(), Some("kept"));
        assert_eq!(own.keys(&scope("default", "guest"), "%").await.unwrap(), ["%"]);
    }
    /// A guest that lists all keys sees only its own, and has none.
    async fn listing_the_keys_of_others() {
        let folder = tempfile::tempdir().unwrap();
        state(folder.path(), grant()).set(&scope("other", "guest"), "secret", "kept", None).await.unwrap();
        state(folder.path(), grant()).set(&scope("default", "neighbour"), "secret", "kept", None).await.unwrap();
        for prefix in ["", "%", "s", "../"] {
            let body = format!(
                "(call $keys (i32.const 5000) (i32.const {}) (i32.const 8192)) {STORED}
                 (if (i32.load (i32.const 8200)) (then (unreachable)))", prefix.len());
            let data = format!(r#"(data (i32.const 5000) "{prefix}")"#);
            let report = run(guest(&body, &data, folder.path(), grant())).await;
            assert!(report.result.is_ok(), "{prefix}: {report:?}");
        }
    }
    /// A guest cannot choose its hook's name, because the contract has no function for it. A hook whose name looks like
    /// a shared namespace has no access to that namespace either.
    async fn a_name_that_looks_like_a_namespace() {
        let folder = tempfile::tempdir().unwrap();
        let shared = state(folder.path(), StateDetails { namespace: Some("pool".into()), ..grant() });
        shared.set(&scope("default", "honest"), "secret", "kept", None).await.unwrap();
        for hook in ["pool", "shared:pool", "hook:honest", "honest"] {
            assert_eq!(state(folder.path(), grant()).get(&scope("default", hook), "secret").await, Ok(None), "{hook}");
        }
    }
    /// A counter at its maximum reports an error.
    async fn a_counter_that_overflows() {
        let folder = tempfile::tempdir().unwrap();
        let (own, scope) = (state(folder.path(), grant()), scope("default", "guest"));
        assert_eq!(own.increment(&scope, "n", i64::MAX, None).await, Ok(i64::MAX));
        assert_eq!(own.increment(&scope, "n", 1, None).await, Err(StateError::NotANumber));
    }
}
