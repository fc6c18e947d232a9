//! Rust: cargo, with a profile for small hooks.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use serde_json::Value;
use wasm_metadata::AddMetadata;

use super::{
    language::{Compiled, Language, Project},
    tool,
};
use crate::exit::Exit;

const TARGET: &str = "wasm32-unknown-unknown";
const MISSING: &str = "to install Rust, see https://rustup.rs";

/// A hook is loaded on every start and sent around: small beats fast, and nothing unwinds in a sandbox that is thrown
/// away. An author's Cargo.toml needs none of it; under a profile of its own (`--profile`) nothing is set.
const SMALL: &[(&str, &str)] = &[
    ("OPT_LEVEL", "s"),
    ("LTO", "fat"),
    ("CODEGEN_UNITS", "1"),
    ("PANIC", "abort"),
    ("STRIP", "symbols"),
    ("DEBUG", "false"),
    ("OVERFLOW_CHECKS", "false"),
];

pub struct Rust;

impl Language for Rust {
    fn name(&self) -> &'static str {
        "Rust"
    }

    fn manifest(&self) -> &'static str {
        "Cargo.toml"
    }

    fn compile(&self, project: &Project<'_>) -> anyhow::Result<Compiled> {
        let folder = &project.folder;
        check_target(folder)?;
        let manifest = folder.join(self.manifest());
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(folder)
            // A library that is also a Rust one, as for its unit tests, is not optimised as a whole.
            .args(["rustc", "--lib", "--crate-type", "cdylib"])
            .args(["--target", TARGET, "--message-format", "json-render-diagnostics"])
            .args(["--profile", &project.build.profile, "--manifest-path"])
            .arg(&manifest)
            .env("CARGO_ENCODED_RUSTFLAGS", flags(folder)?);
        if project.build.profile == "release" {
            cargo.envs(SMALL.iter().map(|(key, value)| (format!("CARGO_PROFILE_RELEASE_{key}"), value)));
        }
        let output = tool::run(&mut cargo, MISSING, || format!("cargo could not build {}", folder.display()))?;
        let core = artifact(&output.stdout, &manifest).ok_or_else(|| {
            Exit::Usage.error(format!(
                "{} builds no component: its Cargo.toml needs [lib] crate-type = [\"cdylib\"]",
                folder.display()
            ))
        })?;
        let name = core.file_stem().map(|stem| stem.to_string_lossy().replace('_', "-")).unwrap_or_default();
        let wasm = std::fs::read(&core).with_context(|| core.display().to_string())?;
        Ok(Compiled { name, wasm, adapters: Vec::new(), made_with: made_with(folder, &output.stdout)? })
    }
}

/// cargo's own word for a missing target is "can't find crate for `std`".
fn check_target(folder: &Path) -> anyhow::Result<()> {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(folder).args(["--print", "target-libdir", "--target", TARGET]);
    match tool::ask(&mut rustc, MISSING)? {
        Some(libraries) if Path::new(&libraries).is_dir() => Ok(()),
        _ => Err(Exit::Software.error(format!(
            "this Rust toolchain has no target {TARGET}\n   to install it:   rustup target add {TARGET}"
        ))),
    }
}

/// The author's flags, and what keeps the paths of this machine out of the component.
fn flags(folder: &Path) -> anyhow::Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(folder).args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata = tool::ask(&mut cargo, MISSING)?.unwrap_or_default();
    let metadata: Value = serde_json::from_str(&metadata).unwrap_or_default();
    let told = |key: &str| metadata.get(key).and_then(Value::as_str).map(PathBuf::from);
    let mut rustc = Command::new("rustc");
    rustc.current_dir(folder).args(["--print", "sysroot"]);
    let sysroot = tool::ask(&mut rustc, MISSING)?.map(|root| Path::new(&root).join("lib/rustlib/src/rust"));

    // The last that matches counts: the more specific come later.
    let mut remaps = vec![(Some(folder.to_owned()), "/hook"), (told("workspace_root"), "/hook")];
    let target = told("target_directory");
    remaps.extend([(target, "/target"), (sysroot, "/rust")]);
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = home.map(|home| home.join("registry/src"));
    // A registry's folder is named after its address, and mirrors have others.
    for registry in sources.and_then(|sources| sources.read_dir().ok()).into_iter().flatten().flatten() {
        remaps.push((Some(registry.path()), "/crates"));
    }

    let own = env::var("RUSTFLAGS").unwrap_or_default();
    let own = own.split_whitespace().map(str::to_owned);
    let remaps = remaps.into_iter().filter_map(|(path, name)| Some((path?, name)));
    let remaps = remaps.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    Ok(own.chain(remaps).collect::<Vec<_>>().join("\x1f"))
}

/// The module among what cargo says it built for this manifest.
fn artifact(messages: &[u8], manifest: &Path) -> Option<PathBuf> {
    let mut found = None;
    for line in messages.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
        if message.get("manifest_path").and_then(Value::as_str).map(Path::new) != Some(manifest) {
            continue;
        }
        let files = message.get("filenames").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        found = files.map(PathBuf::from).find(|file| file.extension().is_some_and(|e| e == "wasm")).or(found);
    }
    found
}

/// The language, its compiler, and the version of our SDK among what cargo says it built. What the compiler says of itself
/// goes with the names of functions.
fn made_with(folder: &Path, messages: &[u8]) -> anyhow::Result<AddMetadata> {
    let text = String::from_utf8_lossy(messages);
    let sdk = text.lines().filter(|line| line.contains("hookbox_guest")).find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let ours = message.pointer("/target/name").is_some_and(|name| name == "hookbox_guest");
        ours.then(|| message.get("package_id")?.as_str().map(str::to_owned))?
    });
    // `…#0.1.0` or `…#hookbox-guest@0.1.0`
    let version = sdk.and_then(|id| id.rsplit(['#', '@']).next().map(str::to_owned));
    let compiler = tool::ask(Command::new("rustc").current_dir(folder).arg("--version"), MISSING)?.unwrap_or_default();
    let mut made = AddMetadata::default();
    made.language = vec![("Rust".into(), String::new())];
    let compiler = compiler.split_once(' ').map(|(name, version)| (name.to_owned(), version.to_owned()));
    made.processed_by = compiler.into_iter().collect();
    made.sdk = version.map(|version| ("hookbox-guest".into(), version)).into_iter().collect();
    Ok(made)
}
