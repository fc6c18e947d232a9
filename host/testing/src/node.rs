//! Hooks in JavaScript: npm, and the packages that `hookbox build` installs. They are installed once for all tests.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::examples::target_dir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder of the SDK.
pub fn sdk() -> PathBuf {
    root().join("sdk-guest/js").canonicalize().expect("sdk-guest/js")
}

/// Returns the folder of the SDK, with the packages that its own tests need.
pub fn sdk_installed() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        ci(&sdk());
        sdk()
    })
}

/// Runs npm in a folder and returns its output.
pub fn npm(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("npm").args(args).arg("--loglevel=error").current_dir(folder).output();
    let output = output.expect("`npm` cannot be run: to install Node.js 20 or later, see https://nodejs.org");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "npm {args:?} in {}\n{stdout}{stderr}", folder.display());
    stdout.into_owned()
}

/// Installs the packages of a folder from its lockfile.
pub fn ci(folder: &Path) {
    npm(folder, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
}

/// Links the build tools into a project, so that `hookbox build` need not install them.
pub fn lend_tools(project: &Path) {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    let tools = INSTALLED.get_or_init(install);
    let place = project.join(".hookbox/js");
    fs::create_dir_all(&place).expect("writable");
    if !place.join("node_modules").exists() {
        symlink(tools.join("node_modules"), place.join("node_modules")).expect("a link");
    }
}

fn install() -> PathBuf {
    let tools = target_dir().join("tools/javascript");
    let source = root().join("host/cli/src/commands/build/javascript");
    let lock = fs::read_to_string(source.join("package-lock.json")).expect("a lockfile");
    let installed = tools.join("node_modules/.hookbox-lock.json");
    if fs::read_to_string(&installed).ok().as_ref() != Some(&lock) {
        fs::create_dir_all(&tools).expect("writable");
        for file in ["package.json", "package-lock.json"] {
            fs::copy(source.join(file), tools.join(file)).expect("copied");
        }
        ci(&tools);
        fs::write(installed, lock).expect("writable");
    }
    tools
}

/// Creates a project with these files and the SDK.
pub fn project(folder: &Path, files: &[(&str, &str)]) {
    fs::create_dir_all(folder.join("node_modules/@hookbox")).expect("writable");
    let manifest = r#"{ "name": "hook", "private": true, "type": "module" }"#;
    for (name, text) in [("package.json", manifest)].iter().chain(files) {
        fs::write(folder.join(name), text).expect("writable");
    }
    if !folder.join("node_modules/@hookbox/guest").exists() {
        symlink(sdk(), folder.join("node_modules/@hookbox/guest")).expect("a link");
    }
    lend_tools(folder);
}
