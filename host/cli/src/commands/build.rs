//! `hookbox build`: detects the language, runs its compiler, and makes a component of the result.

mod component;
mod contract;
mod go;
mod javascript;
mod language;
mod python;
mod rust;
mod snapshot;
mod tool;
mod watch;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hookbox::sandbox::component::inspect;
use wasm_metadata::AddMetadata;

use self::language::{Compiled, Project};
use super::inspect::{describe, describe_json};
use crate::{exit::Exit, print, user_file};

/// Compile a hook to a component.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox build --watch")]
pub struct Build {
    /// The hook's folder, or a core module that is already compiled
    #[arg(value_name = "HOOK", default_value = ".")]
    hook: PathBuf,
    /// Path of the component; by default beside the hook, under the hook's name
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rust: a cargo profile of your own; `release` is optimised for size, regardless of Cargo.toml
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// Build again whenever a file in the hook's folder changes
    #[arg(long)]
    watch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Build {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        if !self.watch {
            self.once()?;
        } else if self.hook.is_dir() {
            watch::watch(&self.hook, || self.once())?;
        } else {
            return Err(Exit::Usage.error(format!("{} is not a hook's folder: nothing to watch", self.hook.display())));
        }
        Ok(Exit::Ok)
    }

    fn once(&self) -> anyhow::Result<()> {
        let (output, made) = if self.hook.is_dir() { self.folder()? } else { self.module()? };
        let bytes = std::fs::read(&output).with_context(|| output.display().to_string())?;
        let found = inspect(&bytes)?;
        if !made {
            print::err("nothing changed");
        }
        if self.json {
            let mut described = describe_json(&output, &found);
            described.insert("built".into(), made.into());
            print::json(&described.into());
        } else {
            describe(&output, &found).iter().for_each(print::err);
        }
        Ok(())
    }

    /// Builds a hook from its sources. Returns the component's path, and true if it was built again.
    fn folder(&self) -> anyhow::Result<(PathBuf, bool)> {
        let folder = self.hook.canonicalize().with_context(|| self.hook.display().to_string())?;
        let language = language::detect(&folder)?;
        let project = Project { folder, build: self };
        let output = |name: &str| self.output.clone().unwrap_or_else(|| self.hook.join(format!("{name}.wasm")));
        let known = language.fingerprint(&project)?;
        let source = known.as_ref().map(|known| component::source([known.digest.as_bytes()]));
        if let (Some(known), Some(source)) = (&known, &source)
            && component::is_made_from(&output(&known.name), source)
        {
            return Ok((output(&known.name), false));
        }
        print::err(format_args!("building {} ({})", print::name(&project.folder.to_string_lossy()), language.name()));
        let compiled = language.compile(&project)?;
        let output = output(&compiled.name);
        let made = make(compiled, source, &output)?;
        Ok((output, made))
    }

    /// Makes a component of a core module.
    fn module(&self) -> anyhow::Result<(PathBuf, bool)> {
        let wasm = std::fs::read(&self.hook).with_context(|| self.hook.display().to_string())?;
        let name = self.hook.file_stem().unwrap_or_default().to_string_lossy().replace('_', "-");
        let output = self.output.clone().unwrap_or_else(|| self.hook.with_file_name(format!("{name}.component.wasm")));
        let compiled = Compiled { name, wasm, adapters: Vec::new(), made_with: AddMetadata::default() };
        let made = make(compiled, None, &output)?;
        Ok((output, made))
    }
}

/// Makes and writes the component, unless the existing one was made from the same source. `source` is the digest of the
/// compiler's input. If that is unknown, the digest of its output is used.
fn make(compiled: Compiled, source: Option<String>, output: &Path) -> anyhow::Result<bool> {
    let source = source.unwrap_or_else(|| {
        let adapters = compiled.adapters.iter().map(|(_, adapter)| adapter.as_slice());
        component::source(std::iter::once(compiled.wasm.as_slice()).chain(adapters))
    });
    if component::is_made_from(output, &source) {
        return Ok(false);
    }
    let name = compiled.name.clone();
    print::err("making the component");
    let component = component::make(compiled, &source).with_context(|| format!("cannot make a component of {name}"))?;
    component::validate(&component)?;
    user_file::replace(output, &component)?;
    Ok(true)
}
