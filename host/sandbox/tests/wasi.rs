//! WASI is linked for every hook and gives only what is granted, which is nothing by default.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path};

use hookbox_sandbox::{Component, DirectoryBounds, Limits, LoadError, Permissions};
use hookbox_testing::guest::{self, GATE, call, encode, gate};

const PACKAGES: &str = "
    package wasi:cli@0.2.3 { interface environment { get-environment: func() -> list<tuple<string, string>>; } }
    package wasi:filesystem@0.2.3 {
        interface types { resource descriptor; }
        interface preopens { use types.{descriptor}; get-directories: func() -> list<tuple<descriptor, string>>; }
    }";
const VARIABLES: (&str, &str) = ("wasi:cli/environment@0.2.3", "get-environment");
const DIRECTORIES: (&str, &str) = ("wasi:filesystem/preopens@0.2.3", "get-directories");

/// Returns true if a component sees exactly `count` entries in this list.
async fn sees(count: u32, (interface, function): (&str, &str), permissions: &Permissions, folder: &Path) -> bool {
    let import = format!(r#"(import "{interface}" "{function}" (func $list (param i32)))"#);
    let body = format!(
        "(call $list (i32.const 8192))
         (if (i32.ne (i32.load (i32.const 8196)) (i32.const {count})) (then (unreachable)))"
    );
    let bytes = encode(&gate(&body, &import), &format!("import {interface}; {GATE}"), PACKAGES);
    let component = Component::new(&guest::engine(), &bytes, permissions, folder).unwrap();
    call(&component, Limits::default()).await.result.is_ok()
}

#[tokio::test]
async fn variables_are_seen_by_name_only() {
    let granted = Permissions { env: vec!["PATH".into(), "HOOKBOX_NO_SUCH".into()], ..Permissions::default() };
    assert!(sees(0, VARIABLES, &Permissions::default(), Path::new(".")).await);
    assert!(sees(1, VARIABLES, &granted, Path::new(".")).await);
}

#[tokio::test]
async fn directories_are_seen_when_granted_only() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let granted = Permissions {
        read: BTreeMap::from([("/data".into(), "data".into())]),
        write: BTreeMap::from([("/out".into(), ".".into())]),
        ..Permissions::default()
    };
    assert!(sees(0, DIRECTORIES, &Permissions::default(), folder.path()).await);
    assert!(sees(2, DIRECTORIES, &granted, folder.path()).await);
}

/// A guest that sees one directory and reads `file` in it, and traps unless the file has this many bytes.
fn reader(bytes: u32) -> Vec<u8> {
    let body = format!(
        "(call $directories (i32.const 8192))
         (call $open (i32.load (i32.load (i32.const 8192))) (i32.const 1) (i32.const 4096) (i32.const 4) (i32.const 0)
             (i32.const 1) (i32.const 8192))
         (if (i32.load8_u (i32.const 8192)) (then (unreachable)))
         (call $read (i32.load (i32.const 8196)) (i64.const 100) (i64.const 0) (i32.const 8192))
         (if (i32.ne (i32.load (i32.const 8200)) (i32.const {bytes})) (then (unreachable)))"
    );
    let items = format!(r#"{} (data (i32.const 4096) "file")"#, guest::DIRECTORY);
    let world = format!("import wasi:filesystem/preopens@0.2.3; import wasi:filesystem/types@0.2.3; {GATE}");
    encode(&gate(&body, &items), &world, guest::FILES)
}

/// `acme/data/file` (3 bytes), `acme/link` → `data`, and `other/file` (5 bytes).
fn two_tenants() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for (tenant, text) in [("acme/data", "own"), ("other", "other")] {
        fs::create_dir_all(at(tenant)).unwrap();
        fs::write(at(tenant).join("file"), text).unwrap();
    }
    symlink("data", at("acme/link")).unwrap();
    folder
}

#[tokio::test]
async fn a_replaced_granted_directory_is_not_seen() {
    for granted in ["acme/link", "acme/data", "acme/link/../data", "acme/data/."] {
        for write in [false, true] {
            let folder = two_tenants();
            let at = |path: &str| folder.path().join(path);
            let directories = BTreeMap::from([("/data".into(), granted.into())]);
            let permissions = if write {
                Permissions { write: directories, ..Permissions::default() }
            } else {
                Permissions { read: directories, ..Permissions::default() }
            };
            let component = Component::new(&guest::engine(), &reader(3), &permissions, folder.path()).unwrap();
            assert!(call(&component, Limits::default()).await.result.is_ok(), "{granted}");
            fs::remove_file(at("acme/link")).unwrap();
            fs::rename(at("acme/data"), at("acme/moved")).unwrap();
            symlink(at("other"), at("acme/link")).unwrap();
            symlink("../other", at("acme/data")).unwrap();
            for _ in 0..3 {
                let report = call(&component, Limits::default()).await;
                assert!(report.result.is_ok(), "{granted}: {report:?}");
            }
            // After the directory is removed, the component sees nothing.
            fs::remove_dir_all(at("acme/moved")).unwrap();
            assert!(call(&component, Limits::default()).await.result.is_err(), "{granted}");
        }
    }
}

#[tokio::test]
async fn a_link_out_of_the_ceiling_is_not_opened() {
    let folder = two_tenants();
    let at = |path: &str| folder.path().join(path);
    symlink("../other", at("acme/out")).unwrap();
    symlink(at("other"), at("acme/absolute")).unwrap();
    let bounds = |read: &[&str], write: &[&str]| {
        let under = |names: &[&str]| names.iter().map(|name| at(name)).collect();
        Some(DirectoryBounds { read: under(read), write: under(write) })
    };
    let load = |read: Option<&str>, write: Option<&str>, bounds: Option<DirectoryBounds>| {
        let grant = |name: Option<&str>| name.map(|name| ("/data".to_owned(), name.to_owned())).into_iter().collect();
        let permissions = Permissions { read: grant(read), write: grant(write), bounds, ..Permissions::default() };
        Component::new(&guest::engine(), &reader(3), &permissions, folder.path())
    };
    for inside in ["acme", "acme/link", "acme/data", "acme/data/../link"] {
        load(Some(inside), None, bounds(&["acme"], &[])).unwrap();
        load(None, Some(inside), bounds(&["acme"], &["other", "acme"])).unwrap();
    }
    for out in ["acme/out", "acme/absolute", "other", "acme/../other", "acme/data/../../other", "."] {
        let error = load(Some(out), None, bounds(&["acme"], &["acme"])).unwrap_err();
        assert!(
            matches!(&error, LoadError::Directory { error, .. } if error.contains("is outside of")),
            "{out}: {error}"
        );
    }
    // A read grant does not allow writing.
    assert!(load(None, Some("acme/data"), bounds(&["acme"], &["other"])).is_err());
}
