//! The invariants of ARCHITECTURE.md that the compiler does not check.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).map(|e| e.unwrap().path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// Returns the crates that a package depends on.
fn tree(package: &str, features: &[&str]) -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--format", "{p}", "-p", package]);
    let output = cargo.args(features).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect()
}

#[test]
fn the_sandbox_knows_no_configuration_store_client_or_model() {
    let crates = tree("hookbox-sandbox", &[]);
    assert!(crates.iter().any(|name| name == "wasmtime"));
    for unknown in ["hookbox", "rusqlite", "reqwest", "schemars", "metrics"] {
        assert!(!crates.iter().any(|name| name == unknown), "{unknown}");
    }
}

#[test]
fn features_gate_their_dependencies() {
    let (bare, all) = (tree("hookbox", &["--no-default-features"]), tree("hookbox", &[]));
    for brought in ["rusqlite", "reqwest", "schemars"] {
        assert!(!bare.iter().any(|name| name == brought), "{brought}");
        assert!(all.iter().any(|name| name == brought), "{brought}");
    }
}

#[test]
fn unsafe_code_is_in_one_file() {
    let mut places = Vec::new();
    for (path, text) in sources(&root().join("host")) {
        // A link to the SDKs, whose generated bindings call the canonical ABI.
        if path.starts_with(root().join("host/cli/sdk")) {
            continue;
        }
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        places
            .extend(code.filter(|line| line.contains("unsafe {") || line.contains("unsafe fn")).map(|_| path.clone()));
    }
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(places[0].ends_with("host/sandbox/src/cache.rs"), "{places:?}");
}

#[test]
fn the_pipeline_shows_the_steps_of_an_event() {
    let text = fs::read_to_string(root().join("host/runtime/src/pipeline.rs")).unwrap();
    let steps = ["decode_event", "select", "run_together", "merge", "encode_outcome"];
    assert!(steps.iter().all(|step| text.contains(step)), "a step is missing in pipeline.rs");
}

/// Each promise of docs/security.md links to its test.
#[test]
fn every_promise_has_its_test() {
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let mut tests = 0;
    for link in page.split("[`").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
        let Some((name, path)) = link.split_once("`](../") else { continue };
        let file = root().join("docs/..").join(path);
        assert!(file.exists(), "{path}");
        if Path::new(path).extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        // A test is a function or a row of `hostile!`.
        let defined = text.contains(&format!("fn {name}(")) || text.contains(&format!("\n    {name}:"));
        assert!(defined, "{path} has no test {name}");
        tests += 1;
    }
    assert!(tests > 40, "{tests}");
}

/// Only `host/cli/src/user_file.rs` writes files of the user. Other code may write temporary files and the files of its
/// own build folder.
#[test]
fn files_of_the_user_are_written_in_one_place() {
    let dir = root().join("host/cli/src");
    let elsewhere = ["user_file.rs", "commands/build/", "commands/scratch.rs"];
    for (path, text) in sources(&dir) {
        let name = path.strip_prefix(&dir).unwrap().to_string_lossy().into_owned();
        let product = text.split("#[cfg(test)]").next().unwrap();
        for call in ["fs::write", "File::create", "OpenOptions", "fs::rename", "fs::copy", "remove_file", "persist("] {
            let allowed = elsewhere.iter().any(|prefix| name.starts_with(prefix)) || !product.contains(call);
            assert!(allowed, "{name} calls {call}: files of the user are written by user_file");
        }
    }
}
