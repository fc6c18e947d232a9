//! The example hooks, built with cargo and `hookbox build`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Returns the folder of all examples.
pub fn examples_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-examples")
}

/// Returns the names of all examples.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(examples_dir())
        .expect("guest-examples")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .map(|path| path.file_name().expect("named").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the component of an example. The first call builds all of them.
pub fn component(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(build_all).join(format!("{name}.wasm"));
    assert!(path.is_file(), "no example is called {name}");
    path
}

/// Runs the cases of the example `of` against a component, with the configuration of the example `name`. The files are
/// copied to `folder`.
pub fn holds_its_cases(name: &str, component: &Path, of: &str, folder: &Path) {
    fs::copy(component, folder.join(format!("{name}.wasm"))).expect("copied");
    fs::copy(examples_dir().join(name).join("hooks.json"), folder.join("hooks.json")).expect("copied");
    let cases = examples_dir().join(of).join("tests/cases.yaml");
    let mut test = Command::new(crate::process::hookbox());
    let output = test.arg("test").arg(folder).arg("--cases").arg(cases).output().expect("hookbox runs");
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{name}\n{}", String::from_utf8_lossy(&printed));
}

fn build_all() -> PathBuf {
    let target = target_dir();
    let out = target.join("examples-built").join(std::process::id().to_string());
    fs::create_dir_all(&out).expect("writable");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", "guest", "--target", "wasm32-unknown-unknown"]).arg("--target-dir").arg(&target);
    // Ignore the flags that `cargo test` sets, because authors compile guests without them.
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir(examples_dir());
    for name in names() {
        cargo.args(["--package", &name]);
    }
    assert!(cargo.status().expect("cargo runs").success(), "the examples do not build");
    for name in names() {
        let core = target.join("wasm32-unknown-unknown/guest").join(format!("{}.wasm", name.replace('-', "_")));
        let component = out.join(format!("{name}.wasm"));
        let build = Command::new(crate::process::hookbox()).arg("build").arg(&core).arg("-o").arg(&component).output();
        let build = build.expect("hookbox runs");
        assert!(build.status.success(), "{name}: {}", String::from_utf8_lossy(&build.stderr));
    }
    out
}

/// Returns the target directory of this test.
pub fn target_dir() -> PathBuf {
    std::env::current_exe().expect("this test").ancestors().nth(3).expect("target/debug/deps").to_owned()
}
