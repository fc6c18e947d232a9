//! Rust: cargo, with a profile for small hooks.

mod messages;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use serde::Deserialize;
use wasm_metadata::AddMetadata;
use wasmparser::{Parser, Payload};

use self::messages::Messages;
use super::{
    language::{Compiled, Language, Project},
    tool,
};
use crate::exit::Exit;

const TARGET: &str = "wasm32-unknown-unknown";
const MISSING: &str = "to install Rust, see https://rustup.rs";

/// Profile settings for small components. Size matters most, because a component is loaded on every start, and the
/// sandbox needs no unwinding. They override the author's `release` profile, but not another one (`--profile`).
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
            // Only `cdylib`: a library that is also an rlib, as for its unit tests, is not optimised as a whole.
            .args(["rustc", "--lib", "--crate-type", "cdylib"])
            .args(["--target", TARGET, "--message-format", Messages::format()])
            .args(["--profile", &project.build.profile, "--manifest-path"])
            .arg(&manifest)
            .env("CARGO_ENCODED_RUSTFLAGS", flags(folder)?);
        if project.build.profile == "release" {
            cargo.envs(SMALL.iter().map(|(key, value)| (format!("CARGO_PROFILE_RELEASE_{key}"), value)));
        }
        let mut messages = Messages::default();
        if !tool::follow(&mut cargo, MISSING, |line| messages.take(line))? {
            return Err(messages.failure(folder));
        }
        let core = messages.artifact(&manifest).ok_or_else(|| {
            Exit::Usage.error(format!(
                "{} builds no component: its Cargo.toml needs [lib] crate-type = [\"cdylib\"]",
                folder.display()
            ))
        })?;
        let name = core.file_stem().map(|stem| stem.to_string_lossy().replace('_', "-")).unwrap_or_default();
        let wasm = std::fs::read(&core).with_context(|| core.display().to_string())?;
        check_imports(&wasm)?;
        Ok(Compiled { name, wasm, adapters: Vec::new(), made_with: made_with(folder, &messages)? })
    }
}

/// Checks that the target is installed. cargo's own error is only "can't find crate for `std`".
fn check_target(folder: &Path) -> anyhow::Result<()> {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(folder).args(["--print", "target-libdir", "--target", TARGET]);
    match tool::ask(&mut rustc, MISSING)? {
        Some(libraries) if Path::new(&libraries).is_dir() => Ok(()),
        _ => Err(Exit::Software.advised(
            format!("this Rust toolchain has no target {TARGET}"),
            &[&format!("to install it:   rustup target add {TARGET}")],
        )),
    }
}

/// The author's flags, and flags that keep the paths of this machine out of the component.
fn flags(folder: &Path) -> anyhow::Result<String> {
    let mut cargo = Command::new("cargo");
    // This also unpacks the dependencies. The folders of a registry are known only then.
    cargo.current_dir(folder).args(["metadata", "--format-version", "1", "--filter-platform", TARGET]);
    let metadata = tool::ask(&mut cargo, MISSING)?.unwrap_or_default();
    // cargo reports an invalid manifest during the build.
    let metadata: Metadata = serde_json::from_str(&metadata).unwrap_or_default();
    let mut rustc = Command::new("rustc");
    rustc.current_dir(folder).args(["--print", "sysroot"]);
    let sysroot = tool::ask(&mut rustc, MISSING)?.map(|root| Path::new(&root).join("lib/rustlib/src/rust"));

    // The last matching remap applies, so the more specific ones come later.
    let mut remaps: Vec<_> = metadata.packages.iter().filter_map(Package::remap).collect();
    remaps.sort();
    remaps.dedup();
    remaps.extend([(folder.to_owned(), "/hook".into()), (metadata.workspace_root, "/hook".into())]);
    remaps.push((metadata.target_directory, "/target".into()));
    remaps.extend(sysroot.map(|sysroot| (sysroot, "/rust".into())));

    let own = env::var("RUSTFLAGS").unwrap_or_default();
    let own = own.split_whitespace().map(str::to_owned);
    let remaps = remaps.into_iter().filter(|(path, _)| !path.as_os_str().is_empty());
    let remaps = remaps.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    Ok(own.chain(remaps).collect::<Vec<_>>().join("\x1f"))
}

/// The part of the output of `cargo metadata` about source folders.
#[derive(Default, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    source: Option<String>,
    manifest_path: PathBuf,
}

impl Package {
    /// The folder of its sources, and the folder's name in the component. The folder of a registry depends on its
    /// address, which differs between mirrors.
    fn remap(&self) -> Option<(PathBuf, String)> {
        let folder = self.manifest_path.parent()?;
        match &self.source {
            Some(source) if source.starts_with("git+") => Some((folder.to_owned(), format!("/crates/{}", self.name))),
            Some(_) => Some((folder.parent()?.to_owned(), "/crates".into())),
            None => Some((folder.to_owned(), format!("/crates/{}", self.name))),
        }
    }
}

/// Rejects imports of wasm-bindgen. Packages for browsers leave them in the module for wasm-bindgen's own tool to
/// replace.
fn check_imports(module: &[u8]) -> anyhow::Result<()> {
    for payload in Parser::new(0).parse_all(module) {
        let Payload::ImportSection(imports) = payload? else { continue };
        for import in imports.into_imports() {
            if import?.module.starts_with("__wbindgen") {
                return Err(Exit::Software.advised(
                    "a dependency of the hook needs wasm-bindgen, which works only in browsers",
                    &[
                        "to find it:   cargo tree --target wasm32-unknown-unknown --invert wasm-bindgen",
                        "try `default-features = false`; to send requests, use `http` of hookbox_guest",
                    ],
                ));
            }
        }
    }
    Ok(())
}

/// The language, the compiler, and the version of the SDK. The compiler's own metadata is removed together with
/// function names.
fn made_with(folder: &Path, messages: &Messages) -> anyhow::Result<AddMetadata> {
    let compiler = tool::ask(Command::new("rustc").current_dir(folder).arg("--version"), MISSING)?.unwrap_or_default();
    let mut made = AddMetadata::default();
    made.language = vec![("Rust".into(), String::new())];
    let compiler = compiler.split_once(' ').map(|(name, version)| (name.to_owned(), version.to_owned()));
    made.processed_by = compiler.into_iter().collect();
    let sdk = messages.version("hookbox_guest");
    made.sdk = sdk.map(|version| ("hookbox-guest".into(), version)).into_iter().collect();
    Ok(made)
}
