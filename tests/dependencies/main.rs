//! The dependency rules of ARCHITECTURE.md: between crates by `cargo metadata`, and within crates by the paths in the
//! sources.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod paths;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use paths::Source;
use serde_json::Value;

/// Workspace crates by layer. A crate may depend only on the layers above it in this list.
const LAYERS: [&[&str]; 6] = [
    &["hookbox-catalogue", "hookbox-protocol"],
    &["hookbox-sandbox"],
    &["hookbox"],
    &["hookbox-registry"],
    &["hookbox-server", "hookbox-embed"],
    &["hookbox-cli", "hookbox-node", "hookbox-python"],
];

/// The libraries that `hookbox-protocol` may use. None of them does IO.
const PURE: [&str; 7] = ["indexmap", "regex", "regex-automata", "regex-syntax", "serde", "serde_json", "thiserror"];

/// Paths for IO, clocks, randomness or WebAssembly.
const IMPURE: [&str; 13] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio",
    "wasmtime",
    "rand",
    "getrandom",
];

/// Crates whose types may occur in public signatures of the sandbox and the runtime.
const SHOWN: [&str; 2] = ["serde_json", "http"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the sources of a crate, by their path in the project.
fn sources(crate_folder: &str) -> BTreeMap<String, Source> {
    let folder = root().join(crate_folder).join("src");
    let (mut folders, mut found) = (vec![folder.clone()], BTreeMap::new());
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()) {
            let within = path.strip_prefix(&folder).unwrap().with_extension("");
            let names: Vec<_> = within.iter().map(|name| name.to_str().unwrap()).collect();
            // Some test modules are separate files.
            if names.last().is_some_and(|name| *name == "tests" || name.ends_with("_tests")) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let root_file = |name: &&str| ["lib", "main", "mod"].contains(name);
                let end = names.len() - usize::from(names.last().is_some_and(root_file));
                let module: Vec<_> = [&["crate"], &names[..end]].concat();
                let source = Source::parse(&module, &fs::read_to_string(&path).unwrap()).unwrap();
                found.insert(format!("{crate_folder}/src/{}", path.strip_prefix(&folder).unwrap().display()), source);
            }
        }
    }
    assert!(found.len() > 5, "{crate_folder}");
    found
}

/// Returns true if a path is the prefix or continues it.
fn is_within(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Returns the paths that are within a forbidden one.
fn forbidden<'a>(paths: &'a BTreeSet<String>, prefixes: &[&str]) -> Vec<&'a str> {
    paths.iter().map(String::as_str).filter(|path| prefixes.iter().any(|prefix| is_within(path, prefix))).collect()
}

fn violations(crate_folder: &str, prefixes: &[&str], except: &[&str]) -> Vec<String> {
    let checked = sources(crate_folder).into_iter().filter(|(file, _)| !except.contains(&file.as_str()));
    checked
        .flat_map(|(file, source)| {
            let paths = source.paths();
            forbidden(&paths, prefixes).into_iter().map(|path| format!("{file}: {path}")).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the direct dependencies of the workspace's crates, without those of tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--offline", "--no-deps", "--format-version", "1"]);
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let package = |package: &Value| {
        let needed = package["dependencies"].as_array().unwrap().iter().filter(|needed| needed["kind"] != "dev");
        (text(&package["name"]), needed.map(|needed| text(&needed["name"])).collect())
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

/// Returns dependencies on a layer that is not below.
fn upward(dependencies: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (index, layer) in LAYERS.iter().enumerate() {
        for name in *layer {
            let above = LAYERS[index..].concat();
            let needed = dependencies[*name].iter().filter(|needed| above.contains(&needed.as_str()));
            found.extend(needed.map(|needed| format!("{name} depends on {needed}")));
        }
    }
    found
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let mut all = dependencies();
    assert_eq!(upward(&all), Vec::<String>::new());
    all.get_mut("hookbox-protocol").unwrap().insert("hookbox".into());
    assert_eq!(upward(&all), ["hookbox-protocol depends on hookbox"]);
}

#[test]
fn protocol_has_no_io_clock_randomness_or_wasm() {
    let needed = &dependencies()["hookbox-protocol"];
    assert_eq!(needed.iter().filter(|name| !PURE.contains(&name.as_str())).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(violations("host/protocol", &IMPURE, &[]), Vec::<String>::new());
}

#[test]
fn no_dialect_imports_another() {
    let all = sources("host/protocol");
    let prefix = "host/protocol/src/dialect/";
    let names: BTreeSet<_> =
        all.keys().filter_map(|file| Some(file.strip_prefix(prefix)?.split_once('/')?.0)).collect();
    let dialects: Vec<_> = names.into_iter().filter(|name| *name != "common").collect();
    assert!(dialects.len() >= 9, "{dialects:?}");
    for (file, source) in &all {
        let Some(own) = file.strip_prefix(prefix).and_then(|rest| rest.split(['/', '.']).next()) else { continue };
        if !dialects.contains(&own) {
            continue;
        }
        let others = dialects.iter().filter(|other| **other != own).map(|other| format!("crate::dialect::{other}"));
        let others: Vec<_> = others.collect();
        let paths = source.paths();
        let found = forbidden(&paths, &others.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found, Vec::<&str>::new(), "{file}");
    }
}

#[test]
fn only_the_command_line_uses_anyhow() {
    for (name, needed) in dependencies() {
        let may = ["hookbox-cli", "hookbox-bindings"].contains(&name.as_str());
        let public = LAYERS.concat().contains(&name.as_str());
        assert!(may || !public || !needed.contains("anyhow"), "{name} depends on anyhow");
    }
}

/// Files that write to stdout: `hookbox run` and `stdio` speak a protocol, `print.rs` prints for people, the compiler's
/// process writes its code, a daemon writes records where its settings say so, and `top` draws on a terminal.
const USES_STDOUT: [&str; 7] = [
    "host/cli/src/print.rs",
    "host/cli/src/commands/run/deliver.rs",
    "host/cli/src/commands/stdio.rs",
    "host/cli/src/commands/top/screen.rs",
    // It asks for the size and the colours of the terminal.
    "host/cli/src/terminal.rs",
    "host/sandbox/src/compiler.rs",
    "host/server/src/records.rs",
];

#[test]
fn stdout_is_used_in_few_files() {
    for folder in ["host/protocol", "host/sandbox", "host/runtime", "host/registry", "host/server", "host/cli"] {
        let found = violations(folder, &["std::io::stdout", "tokio::io::stdout", "println"], &USES_STDOUT);
        assert_eq!(found, Vec::<String>::new());
    }
}

/// Foreign types in public signatures of the sandbox and the runtime. Do not extend this list.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("host/runtime/src/handler.rs", "tokio::time::Instant", "the deadline of a call"),
    ("host/runtime/src/lib.rs", "async_trait::async_trait", "the attribute that implementations of a handler need"),
    ("host/runtime/src/transport/stdio.rs", "tokio::io::AsyncBufRead", "the client's end of stdio"),
    ("host/runtime/src/transport/stdio.rs", "tokio::io::AsyncWrite", "the client's end of stdio"),
    ("host/sandbox/src/beneath.rs", "cap_primitives::fs::Metadata", "shared with the other crates of the project only"),
    (
        "host/sandbox/src/beneath.rs",
        "cap_primitives::fs::MetadataExt",
        "shared with the other crates of the project only",
    ),
    ("host/sandbox/src/private.rs", "rustix::fd::AsFd", "shared with the other crates of the project only"),
    ("host/sandbox/src/private.rs", "rustix::fs::FileType", "shared with the other crates of the project only"),
];

#[test]
fn public_signatures_have_no_foreign_types() {
    let all = dependencies();
    let mut found = BTreeSet::new();
    for (name, folder) in [("hookbox-sandbox", "host/sandbox"), ("hookbox", "host/runtime")] {
        let foreign =
            all[name].iter().filter(|needed| !SHOWN.contains(&needed.as_str()) && !needed.starts_with("hookbox"));
        let foreign: Vec<_> = foreign.map(|needed| needed.replace('-', "_")).collect();
        let foreign: Vec<_> = foreign.iter().map(String::as_str).collect();
        for (file, source) in sources(folder) {
            let paths = source.public_paths();
            // A single segment is the name of a parameter.
            let named = forbidden(&paths, &foreign).into_iter().filter(|path| path.contains("::"));
            found.extend(named.map(|path| (file.clone(), path.to_owned())));
        }
    }
    let allowed: BTreeSet<_> = FOREIGN.iter().map(|(file, path, _)| ((*file).to_owned(), (*path).to_owned())).collect();
    assert_eq!(found, allowed);
}

fn parsed(text: &str) -> Source {
    Source::parse(&["crate", "dialect", "claude"], text).unwrap()
}

#[test]
fn an_import_does_not_hide_a_foreign_type() {
    for text in [
        "use wasmtime::Engine; pub fn engine() -> Engine { todo!() }",
        "use wasmtime::{component::{Linker as L}, Store}; pub struct S { pub linker: L<u8> }",
        "use wasmtime as w; pub trait T { fn store(&self) -> w::Store<()>; }",
        "pub use wasmtime::Engine;",
        "pub use wasmtime::*;",
        "use wasmtime::*; pub fn engine() -> Engine { todo!() }",
        "use wasmtime::Error; pub enum E { Of(Error) }",
        "pub struct S; impl S { pub fn a(&self, b: &mut wasmtime::Store<()>) {} }",
        "pub mod inner { pub type A = wasmtime::Engine; }",
    ] {
        assert!(!forbidden(&parsed(text).public_paths(), &["wasmtime"]).is_empty(), "{text}");
    }
    for text in [
        "use wasmtime::Engine; fn engine() -> Engine { todo!() }",
        "use wasmtime::Engine; pub(crate) struct S { pub engine: Engine }",
        "pub struct S { engine: wasmtime::Engine }",
        "pub fn f() { wasmtime::x() }",
        "#[cfg(test)] pub fn f() -> wasmtime::Engine { todo!() }",
    ] {
        assert!(forbidden(&parsed(text).public_paths(), &["wasmtime"]).is_empty(), "{text}");
    }
}

#[test]
fn no_spelling_hides_io_or_the_clock() {
    for text in [
        "fn f() { let _ = core::time::Instant::now(); }",
        "use std::{time::{self, Duration}}; fn f() { time::Instant::now(); }",
        "use ::std::time as clock; fn f() { clock::SystemTime::now(); }",
        "fn f() { use std::fs::read as get; get(\"x\"); }",
        "fn f() { println!(\"{:?}\", std::env::args()); }",
        "mod inner { use std::{fs}; }",
    ] {
        assert!(!forbidden(&parsed(text).paths(), &IMPURE).is_empty(), "{text}");
    }
    for text in ["use std::time::Duration; fn f(_: Duration) {}", "// std::fs\nfn f() -> &'static str { \"std::fs\" }"]
    {
        assert!(forbidden(&parsed(text).paths(), &IMPURE).is_empty(), "{text}");
    }
}

#[test]
fn no_spelling_hides_another_dialect() {
    for text in [
        "use super::blade;",
        "use crate::dialect::{blade::merge, common};",
        "fn f() { super::blade::merge::g(); }",
        "use super as all; fn f() { all::blade::g(); }",
        "mod inner { fn f() { crate::dialect::blade::g(); } }",
    ] {
        assert!(!forbidden(&parsed(text).paths(), &["crate::dialect::blade"]).is_empty(), "{text}");
    }
    let text = "use super::blade_callback; fn blade() {}";
    assert!(forbidden(&parsed(text).paths(), &["crate::dialect::blade"]).is_empty());
}
