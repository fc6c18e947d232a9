//! `hookbox inspect`

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hookbox::component::{Inspection, inspect};

use crate::exit::Exit;

/// Show what a component handles and what it asks for.
#[derive(Debug, Args)]
pub struct Inspect {
    /// Components
    #[arg(required = true, value_name = "HOOK.wasm")]
    components: Vec<PathBuf>,
}

impl Inspect {
    pub fn run(self) -> anyhow::Result<Exit> {
        for path in &self.components {
            let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
            let found =
                inspect(&bytes).map_err(|e| Exit::Config.error(format!("{}: {e}\n   {}", path.display(), e.help())))?;
            print!("{}", describe(path, &found));
        }
        Ok(Exit::Ok)
    }
}

/// What it is, in five lines.
pub fn describe(path: &Path, found: &Inspection) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let made: Vec<String> = found
        .producers
        .iter()
        .filter(|producer| producer.field != "processed-by")
        .map(|producer| format!("{} {}", producer.name, producer.version).trim_end().to_owned())
        .chain(found.contract.as_ref().map(|contract| format!("WIT {contract}")))
        .collect();
    let digest = found.digest.get(..12).unwrap_or(&found.digest);
    format!(
        "{name}   {} KB   sha256:{digest}…   {}\n  handles   {}\n  asks      {}\n  inert     {}\n  refused   {}\n",
        found.size.div_ceil(1024),
        made.join(", "),
        list(found.handles.iter().map(|kind| kind.name().to_owned())),
        list(found.asks.iter().map(ToString::to_string)),
        list(found.inert.iter().cloned()),
        list(found.refused.iter().cloned()),
    )
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "—".into() } else { words.join(", ") }
}
