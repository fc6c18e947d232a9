//! `hookbox build`

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;
use wasm_metadata::AddMetadata;
use wit_component::ComponentEncoder;

use crate::exit::Exit;

/// Compile a hook to a component.
#[derive(Debug, Args)]
pub struct Build {
    /// The hook's folder (with its Cargo.toml), or a core module that is already compiled
    #[arg(value_name = "HOOK", default_value = ".")]
    hook: PathBuf,
    /// Where the component goes; beside the hook, under the hook's name, when left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The cargo profile
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
}

impl Build {
    pub fn run(self) -> anyhow::Result<Exit> {
        let (core, made) = if self.hook.is_dir() { self.cargo()? } else { (self.hook.clone(), AddMetadata::default()) };
        let output = self.output.clone().unwrap_or_else(|| self.default_output(&core));
        let module = std::fs::read(&core).with_context(|| core.display().to_string())?;
        let component = encode(&module).with_context(|| format!("{} cannot become a component", core.display()))?;
        let component = made.to_wasm(&component)?;
        std::fs::write(&output, &component).with_context(|| output.display().to_string())?;
        let kib = component.len().div_ceil(1024);
        eprintln!("{}   {kib} KB", output.display());
        Ok(Exit::Ok)
    }

    /// Compiles with cargo, which knows best where the result is, and what went into it.
    fn cargo(&self) -> anyhow::Result<(PathBuf, AddMetadata)> {
        let manifest = self.hook.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(Exit::Usage.error(format!("{} has no Cargo.toml: is it a hook's folder?", self.hook.display())));
        }
        let output = Command::new("cargo")
            .args(["build", "--target", "wasm32-unknown-unknown", "--message-format", "json-render-diagnostics"])
            .args(["--profile", &self.profile, "--manifest-path"])
            .arg(&manifest)
            .stderr(Stdio::inherit())
            .output()
            .context("cargo could not be started: is Rust installed?")?;
        if !output.status.success() {
            bail!("cargo could not build {}", self.hook.display());
        }
        let manifest = manifest.canonicalize().context("Cargo.toml moved while it was built")?;
        let core = artifact(&output.stdout, &manifest).with_context(|| {
            format!("{} builds no component: its Cargo.toml needs [lib] crate-type = [\"cdylib\"]", self.hook.display())
        })?;
        Ok((core, made_with(&output.stdout)))
    }

    fn default_output(&self, core: &Path) -> PathBuf {
        let name = core.file_stem().map(|stem| stem.to_string_lossy().replace('_', "-")).unwrap_or_default();
        if self.hook.is_dir() {
            self.hook.join(format!("{name}.wasm"))
        } else {
            core.with_file_name(format!("{name}.component.wasm"))
        }
    }
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

/// The language, and the version of our SDK among what cargo says it built.
fn made_with(messages: &[u8]) -> AddMetadata {
    let text = String::from_utf8_lossy(messages);
    let sdk = text.lines().filter(|line| line.contains("hookbox_guest")).find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let ours = message.pointer("/target/name").is_some_and(|name| name == "hookbox_guest");
        ours.then(|| message.get("package_id")?.as_str().map(str::to_owned))?
    });
    // `…#0.1.0` or `…#hookbox-guest@0.1.0`
    let version = sdk.and_then(|id| id.rsplit(['#', '@']).next().map(str::to_owned));
    let mut made = AddMetadata::default();
    made.language = vec![("Rust".into(), String::new())];
    made.sdk = version.map(|version| ("hookbox-guest".into(), version)).into_iter().collect();
    made
}

/// Wraps a core module, which carries its WIT in a custom section, as a component.
fn encode(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    if wasmparser::Parser::is_component(module) {
        return Ok(module.to_vec());
    }
    ComponentEncoder::default().validate(true).module(module)?.encode()
}
