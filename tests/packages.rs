//! Published packages are complete: each crate contains all files that it is compiled from.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The published crates, and true for those that this test compiles from their packages. The others would compile
/// wasmtime a second time; their packages must have every file that they include.
const PUBLISHED: &[(&str, bool)] = &[
    ("hookbox-catalogue", true),
    ("hookbox-protocol", true),
    ("hookbox-guest", true),
    ("hookbox-sandbox", false),
    ("hookbox", false),
    ("hookbox-registry", false),
    ("hookbox-server", false),
    ("hookbox-cli", false),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(args: &[&str], target: &Path) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).current_dir(root()).env("CARGO_TARGET_DIR", target);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "cargo {args:?}\n{said}");
    format!("{}{said}", String::from_utf8_lossy(&output.stdout))
}

#[test]
fn the_light_ones_compile_from_their_packages() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    let light = PUBLISHED.iter().filter(|(_, light)| *light).flat_map(|(name, _)| ["-p", name]);
    let args: Vec<_> = ["package", "--quiet", "--allow-dirty"].into_iter().chain(light).collect();
    cargo(&args, &target);
}

/// The crates that `just dist` packs and those that a release publishes are the same.
#[test]
fn every_list_of_published_crates_is_the_same() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let packed = read("packaging/crates");
    let packed = packed.split("crates=(").nth(1).unwrap().split(')').next().unwrap();
    let workflow = read(".github/workflows/release.yml");
    let command = workflow.split("cargo publish").nth(1).unwrap().split("\n\n").next().unwrap();
    let released = command.split("--package ").skip(1).map(|rest| rest.split_whitespace().next().unwrap());
    let sorted = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    let published = sorted(PUBLISHED.iter().map(|(name, _)| *name).collect());
    assert_eq!(sorted(packed.split_whitespace().collect()), published);
    assert_eq!(sorted(released.collect()), published);
}

#[test]
fn every_package_has_its_included_files() {
    for (name, _) in PUBLISHED {
        let listed = cargo(&["package", "--list", "--allow-dirty", "-p", name], Path::new(env!("CARGO_TARGET_TMPDIR")));
        let files: Vec<_> = listed.lines().map(PathBuf::from).collect();
        let manifest = cargo(&["pkgid", "-p", name], Path::new(env!("CARGO_TARGET_TMPDIR")));
        let folder =
            manifest.trim().strip_prefix("path+file://").and_then(|id| id.split('#').next()).unwrap().to_owned();
        let mut included = 0;
        for file in files.iter().filter(|file| file.starts_with("src") && file.extension().is_some_and(|e| e == "rs")) {
            let text = fs::read_to_string(Path::new(&folder).join(file)).unwrap();
            for path in paths(&text, file.parent().unwrap()) {
                included += 1;
                let carried = files.iter().any(|file| file.starts_with(&path));
                assert!(
                    carried,
                    "{name}: {} includes {}, and the package has no such file",
                    file.display(),
                    path.display()
                );
            }
        }
        println!("{name}: {} files, {included} included", files.len());
    }
}

/// Returns the files that a source includes: texts, bytes, and the WIT files of bindings.
fn paths(text: &str, folder: &Path) -> Vec<PathBuf> {
    let literal = |rest: &str| rest.split('"').nth(1).map(str::to_owned);
    let included =
        ["include_str!(", "include_bytes!(", "include_dir!("].into_iter().flat_map(|word| text.split(word).skip(1));
    // Packages do not contain output of the build script.
    let included = included.filter(|rest| !rest.starts_with(r#"concat!(env!("OUT_DIR")"#));
    let of_package = r#"concat!(env!("CARGO_MANIFEST_DIR"), "/"#;
    let beside = included.filter_map(|rest| match rest.strip_prefix(of_package) {
        Some(rest) => Some(normal(Path::new(rest.split('"').next()?))),
        None => literal(rest).map(|path| normal(&folder.join(path))),
    });
    let bindings = ["bindgen!({", "generate!({"].into_iter().flat_map(|word| text.split(word).skip(1));
    let wit = bindings.filter_map(|rest| rest.split("path: ").nth(1));
    beside.chain(wit.filter_map(literal).map(|path| normal(Path::new(&path)))).collect()
}

/// Resolves `..` in a path of a package. A path out of the package keeps its `..`, which no file of a package has.
fn normal(path: &Path) -> PathBuf {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir
                if parts.last().is_some_and(|last| *last != std::path::Component::ParentDir) =>
            {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.into_iter().collect()
}
