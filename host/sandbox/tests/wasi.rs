//! WASI is linked for everyone and gives what was granted: nothing, unless the configuration says otherwise.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{collections::BTreeMap, path::Path};

use hookbox_sandbox::{Component, Limits, Permissions};
use hookbox_testing::guest::{self, GATE, call, encode, gate};

const PACKAGES: &str = "
    package wasi:cli@0.2.3 { interface environment { get-environment: func() -> list<tuple<string, string>>; } }
    package wasi:filesystem@0.2.3 {
        interface types { resource descriptor; }
        interface preopens { use types.{descriptor}; get-directories: func() -> list<tuple<descriptor, string>>; }
    }";
const VARIABLES: (&str, &str) = ("wasi:cli/environment@0.2.3", "get-environment");
const DIRECTORIES: (&str, &str) = ("wasi:filesystem/preopens@0.2.3", "get-directories");

/// Whether a component sees exactly so many entries in this list.
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
