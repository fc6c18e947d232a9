//! Go: the standard compiler, an adapter for the WASI imports of Go, and a snapshot of the started runtime.

mod data;

use std::{fs, path::Path, process::Command};

use anyhow::{Context, bail};
use serde_json::json;
use wasm_metadata::AddMetadata;
use wit_component::{StringEncoding, embed_component_metadata};

use super::{
    contract,
    language::{Compiled, Language, Project},
    snapshot, tool,
};
use crate::{exit::Exit, print};

const MISSING: &str = "to install Go 1.24 or later, see https://go.dev/dl";
const SDK: &str = "github.com/hookbox/hookbox/sdk-guest/go";
/// The function that starts a module: it runs the `init` functions of the runtime and of every package.
const START: &str = "_initialize";
/// `go/adapter.wat`, assembled.
const ADAPTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/go-adapter.wasm"));
const ADAPTER_WORLD: &str = include_str!("go/wasi.wit");
/// A file that is added to Go's runtime, so that it can be reseeded.
const RESEED: &str = include_str!("go/reseed.go");

pub struct Go;

impl Language for Go {
    fn name(&self) -> &'static str {
        "Go"
    }

    fn manifest(&self) -> &'static str {
        "go.mod"
    }

    fn compile(&self, project: &Project<'_>) -> anyhow::Result<Compiled> {
        let folder = &project.folder;
        check_version(folder)?;
        let scratch = project.scratch()?;
        let core = scratch.join("go.wasm");
        let mut go = go(folder);
        go.args(["build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-tags=hookbox_snapshot"])
            .args(["-ldflags=-s -w -buildid=", "-overlay"])
            .arg(overlay(folder, &scratch)?)
            .arg("-o")
            .arg(&core)
            .arg(".")
            .env("GOOS", "wasip1")
            .env("GOARCH", "wasm");
        print::err(format_args!("go build {}", print::name(&folder.to_string_lossy())));
        tool::run(&mut go, MISSING, || Exit::Software.error(format!("go could not build {}", folder.display())))?;
        let module = fs::read(&core).with_context(|| core.display().to_string())?;
        // The compiler embeds the language and its version.
        let mut made_with = AddMetadata::default();
        made_with.sdk = sdk_version(folder)?.map(|version| (SDK.into(), version)).into_iter().collect();
        let name = hook_name(folder)?;
        Ok(Compiled {
            name,
            wasm: data::merged(&snapshot::started(&data::merged(&module)?, START)?)?,
            adapters: vec![(snapshot::SYSTEM, adapter()?)],
            made_with,
        })
    }
}

fn go(folder: &Path) -> Command {
    let mut go = Command::new("go");
    go.current_dir(folder);
    go
}

fn check_version(folder: &Path) -> anyhow::Result<()> {
    let version = tool::ask(go(folder).args(["env", "GOVERSION"]), MISSING)?.unwrap_or_default();
    let number = version.strip_prefix("go").unwrap_or(&version).to_owned();
    let minor =
        number.split('.').nth(1).map(|minor| minor.chars().take_while(char::is_ascii_digit).collect::<String>());
    if minor.and_then(|minor| minor.parse::<u32>().ok()).is_none_or(|minor| minor < 24) {
        return Err(Exit::Software.advised(format!("Go {number} cannot export functions to WebAssembly"), &[MISSING]));
    }
    Ok(())
}

/// The hook's name: the last part of the module's path.
fn hook_name(folder: &Path) -> anyhow::Result<String> {
    let package = tool::ask(go(folder).args(["list", "-f", "{{.Name}} {{.ImportPath}}", "."]), MISSING)?;
    // If this fails, so did the build, with a better message.
    let package = package.unwrap_or_default();
    let (name, path) = package.split_once(' ').unwrap_or_default();
    if name != "main" {
        bail!("{} is package {name}: a hook is package main, with an empty `func main() {{}}`", folder.display());
    }
    Ok(path.rsplit('/').next().unwrap_or(path).to_owned())
}

fn sdk_version(folder: &Path) -> anyhow::Result<Option<String>> {
    let version = tool::ask(go(folder).args(["list", "-m", "-f", "{{.Version}}", SDK]), MISSING)?;
    Ok(version.map(|version| version.trim_start_matches('v').to_owned()))
}

/// Writes the overlay file that adds a file to the compiler's runtime.
fn overlay(folder: &Path, scratch: &Path) -> anyhow::Result<std::path::PathBuf> {
    let root = tool::ask(go(folder).args(["env", "GOROOT"]), MISSING)?.unwrap_or_default();
    let (file, overlay) = (scratch.join("reseed.go"), scratch.join("overlay.json"));
    fs::write(&file, RESEED)?;
    let place = Path::new(&root).join("src/runtime/hookbox_reseed.go");
    fs::write(&overlay, json!({ "Replace": { place.to_string_lossy(): file } }).to_string())?;
    Ok(overlay)
}

fn adapter() -> anyhow::Result<Vec<u8>> {
    let mut module = ADAPTER.to_vec();
    let mut resolve = contract::resolve()?;
    let package = resolve.push_source("wasi.wit", ADAPTER_WORLD)?;
    let world = resolve.select_world(&[package], Some("adapter"))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    Ok(module)
}
