//! Components that load, components that do not, and the error messages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hookbox_protocol::EventKind;
use hookbox_sandbox::{
    Component, Engine, EngineOptions, Limits, LoadError, Permissions, Profile, component::inspect,
    permission::StateGrant,
};
use hookbox_testing::guest::{self, GATE, call, encode, gate, load};

/// A guest with one import.
fn importing(import: &str, world: &str, packages: &str) -> Vec<u8> {
    encode(&gate("", import), &format!("{world} {GATE}"), packages)
}

fn wants_state() -> Vec<u8> {
    let import = r#"(import "hookbox:hooks/state@0.2.0" "delete" (func (param i32 i32 i32)))"#;
    importing(import, "import hookbox:hooks/state@0.2.0;", "")
}

fn wants_random() -> Vec<u8> {
    importing(
        r#"(import "wasi:random/random@0.2.3" "get-random-u64" (func (result i64)))"#,
        "import wasi:random/random@0.2.3;",
        "package wasi:random@0.2.3 { interface random { get-random-u64: func() -> u64; } }",
    )
}

fn wants_network() -> Vec<u8> {
    importing(
        r#"(import "wasi:sockets/network@0.2.3" "open" (func)) (import "evil:corp/beacon" "send" (func))"#,
        "import wasi:sockets/network@0.2.3; import evil:corp/beacon;",
        "package wasi:sockets@0.2.3 { interface network { open: func(); } } package evil:corp { interface beacon { send: func(); } }",
    )
}

fn refusal(bytes: &[u8]) -> String {
    load(bytes).unwrap_err().to_string()
}

#[test]
fn handled_events_are_its_exports() {
    assert_eq!(load(&encode(&gate("", ""), GATE, "")).unwrap().handles(), [EventKind::PreToolUse]);
}

#[test]
fn a_missing_grant_is_an_error() {
    assert_eq!(refusal(&wants_state()), "needs state, which is not granted");
}

#[test]
fn a_false_grant_grants_nothing() {
    let load = |state| {
        let permissions = Permissions { state: Some(StateGrant::Enabled(state)), ..Permissions::default() };
        Component::new(&guest::engine(), &wants_state(), &permissions, Path::new("."))
    };
    assert!(matches!(load(false), Err(LoadError::NotGranted(_))));
    assert!(load(true).is_ok());
}

#[test]
fn everything_refused_is_named_at_once() {
    let what = refusal(&wants_network());
    assert!(what.contains("wasi:sockets/network@0.2.3") && what.contains("evil:corp/beacon"), "{what}");
}

#[tokio::test]
async fn inert_wasi_is_linked_for_everyone() {
    let component = load(&wants_random()).unwrap();
    assert!(call(&component, Limits::default()).await.result.is_ok());
}

#[test]
fn invalid_components_have_specific_errors() {
    assert!(matches!(load(b"#!/bin/sh"), Err(LoadError::NotWasm)));
    assert!(matches!(load(b""), Err(LoadError::NotWasm)));
    assert!(matches!(load(&wat::parse_str("(module)").unwrap()), Err(LoadError::CoreModule)));
    assert!(matches!(load(&wat::parse_str("(component)").unwrap()), Err(LoadError::NoEvent)));
    let mut broken = encode(&gate("", ""), GATE, "");
    broken.truncate(broken.len() / 2);
    assert!(matches!(load(&broken), Err(LoadError::Invalid(_))));
}

#[test]
fn another_version_of_the_contract_is_named() {
    let wit = r#"(component (component $c) (instance $i (instantiate $c)) (export "hookbox:hooks/stop@0.1.0" (instance $i)))"#;
    let what = refusal(&wat::parse_str(wit).unwrap());
    assert_eq!(what, "made for `hookbox:hooks/stop@0.1.0`; this host supports hookbox:hooks@0.2.0");
}

#[test]
fn an_interface_of_another_type_is_an_error_and_never_not_subscribed() {
    let without = r#"(component (component $c) (instance $i (instantiate $c)) (export "hookbox:hooks/stop@0.2.0" (instance $i)))"#;
    let other = r#"(component
        (core module $m (func (export "f") (result i32) (i32.const 0)))
        (core instance $m (instantiate $m))
        (func $f (result u32) (canon lift (core func $m "f")))
        (component $c (import "handle" (func $f (result u32))) (export "handle" (func $f)))
        (instance $i (instantiate $c (with "handle" (func $f))))
        (export "hookbox:hooks/stop@0.2.0" (instance $i)))"#;
    for text in [without, other] {
        let error = load(&wat::parse_str(text).unwrap()).unwrap_err();
        assert!(
            matches!(&error, LoadError::WrongType { interface, .. } if interface == "hookbox:hooks/stop@0.2.0"),
            "{error}"
        );
    }
}

#[test]
fn a_granted_directory_that_is_missing_is_an_error_when_loading() {
    let permissions =
        Permissions { read: BTreeMap::from([("/data".into(), "no/such".into())]), ..Permissions::default() };
    let error = Component::new(&guest::engine(), &encode(&gate("", ""), GATE, ""), &permissions, Path::new("/tmp"));
    assert!(error.unwrap_err().to_string().starts_with("cannot open the granted directory /tmp/no/such: "));
}

#[test]
fn inspection_shows_the_groups() {
    let state = inspect(&wants_state()).unwrap();
    assert_eq!(state.handles, [EventKind::PreToolUse]);
    assert_eq!(state.asks, [hookbox_sandbox::permission::Grant::State]);
    assert_eq!(state.contract.as_deref(), Some("hookbox:hooks@0.2.0"));
    assert!(state.producers.iter().any(|p| p.field == "processed-by" && p.name == "wit-component"));
    assert_eq!(inspect(&wants_random()).unwrap().inert, ["wasi:random/random@0.2.3"]);
    assert_eq!(inspect(&wants_network()).unwrap().refused.len(), 2);
}

fn cached(folder: &Path) -> Component {
    cached_for(folder, Profile::Resident)
}

fn cached_for(folder: &Path, profile: Profile) -> Component {
    let options = EngineOptions { cache_dir: Some(folder.into()), profile, ..EngineOptions::default() };
    let engine = Engine::new(options).unwrap();
    Component::new(&engine, &encode(&gate("", ""), GATE, ""), &Permissions::default(), folder).unwrap()
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_component_is_compiled_once() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("a/b");
    cached(&folder);
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let entry = entries(&folder).pop().unwrap();
    let written = fs::metadata(&entry).unwrap().modified().unwrap();
    for profile in [Profile::Resident, Profile::OneShot] {
        assert!(call(&cached_for(&folder, profile), Limits::default()).await.result.is_ok());
        assert_eq!(entries(&folder), std::slice::from_ref(&entry));
        assert_eq!(fs::metadata(&entry).unwrap().modified().unwrap(), written, "the second load did not compile");
    }
}

/// A process for one event has one thread. Starting another takes longer than loading a small component.
#[test]
fn cached_code_is_loaded_without_a_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("guard.wasm");
    fs::write(&path, encode(&gate("", ""), GATE, "")).unwrap();
    let threads_for_a_load = || {
        let started = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&started);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_start(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            })
            .build()
            .unwrap();
        let cache_dir = Some(folder.path().join("cache"));
        let options = EngineOptions { cache_dir, profile: Profile::OneShot, ..EngineOptions::default() };
        let engine = Engine::new(options).unwrap();
        runtime.block_on(async {
            let component = Component::load(&engine, &path, &Permissions::default(), folder.path()).await.unwrap();
            assert!(call(&component, Limits::default()).await.result.is_ok());
        });
        (started.load(Ordering::Relaxed), engine.loads())
    };
    let (threads, loads) = threads_for_a_load();
    assert_eq!((threads, loads.compiler, loads.cache), (1, 1, 0));
    let (threads, loads) = threads_for_a_load();
    assert_eq!((threads, loads.compiler, loads.cache), (0, 0, 1));
}

#[tokio::test]
async fn a_damaged_entry_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    cached(folder.path());
    let entry = entries(folder.path()).pop().unwrap();
    let whole = fs::read(&entry).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for damaged in [&b""[..], b"hookbox cache 4\n", &whole[..whole.len() - 1], &flipped, &whole[1..]] {
        for profile in [Profile::Resident, Profile::OneShot] {
            fs::remove_file(&entry).unwrap();
            fs::write(&entry, damaged).unwrap();
            fs::set_permissions(&entry, fs::Permissions::from_mode(0o400)).unwrap();
            assert!(call(&cached_for(folder.path(), profile), Limits::default()).await.result.is_ok());
            assert_eq!(fs::read(&entry).unwrap(), whole);
        }
    }
}

#[test]
fn a_folder_or_entry_that_others_can_write_to_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o770)).unwrap();
    cached(folder.path());
    assert!(entries(folder.path()).is_empty());

    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    cached(folder.path());
    let entry = entries(folder.path()).pop().unwrap();
    // Even its user must not be able to write: code that runs from a file must not change.
    for mode in [0o402, 0o420, 0o600] {
        fs::set_permissions(&entry, fs::Permissions::from_mode(mode)).unwrap();
        cached(folder.path());
        assert_eq!(fs::metadata(&entry).unwrap().permissions().mode() & 0o777, 0o400, "written again");
    }
}

#[test]
fn a_symlink_is_not_followed() {
    let temporary = tempfile::tempdir().unwrap();
    let (real, link) = (temporary.path().join("real"), temporary.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    cached(&link);
    assert!(entries(&real).is_empty());
}

/// A process that was killed while writing an entry leaves half of one. The next writer removes it.
#[test]
fn files_of_ended_processes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let left = |pid: u32, number: u32| folder.path().join(format!("{}.cwasm.{pid}.{number}", "a".repeat(64)));
    let (dead, later, living) = (left(gone.id(), 0), left(gone.id(), 17), left(std::process::id(), 99));
    for half in [&dead, &later, &living] {
        fs::write(half, b"half").unwrap();
    }
    cached(folder.path());
    assert!(!dead.exists() && !later.exists(), "{:?}", entries(folder.path()));
    assert!(living.exists(), "its writer is still alive");
}
