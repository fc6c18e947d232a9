//! `hookbox inspect`

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hookbox::{
    LoadError,
    sandbox::component::{Inspection, inspect},
};

use crate::{exit::Exit, print};

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
            let unusable = |error: LoadError| {
                let lines = vec![format!("{}: {error}", path.display()), format!("   {}", error.help())];
                Exit::Config.errors(lines)
            };
            let found = inspect(&bytes).map_err(unusable)?;
            describe(path, &found).iter().for_each(print::out);
        }
        Ok(Exit::Ok)
    }
}

/// What it is, in five lines.
pub fn describe(path: &Path, found: &Inspection) -> [String; 5] {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let made = found.producers.iter().filter(|producer| producer.field != "processed-by");
    let made = made.map(|producer| {
        let version =
            if producer.version.is_empty() { String::new() } else { format!(" {}", version(&producer.version)) };
        format!("{}{version}", print::name(&producer.name))
    });
    let contract = found.contract.iter().map(|contract| format!("WIT {}", print::name(contract)));
    let made: Vec<String> = made.chain(contract).collect();
    let digest = found.digest.get(..12).unwrap_or(&found.digest);
    [
        format!("{}   {} KB   sha256:{digest}…   {}", print::name(&file), found.size.div_ceil(1024), made.join(", ")),
        format!("  handles   {}", list(found.handles.iter().map(|kind| kind.name().to_owned()))),
        format!("  asks      {}", list(found.asks.iter().map(ToString::to_string))),
        format!("  inert     {}", list(found.inert.iter().map(|import| print::name(import)))),
        format!("  refused   {}", list(found.refused.iter().map(|import| print::name(import)))),
    ]
}

/// A version as compilers write it, `1.95.0 (59807616e 2026-04-14)` for example, or in quotes.
fn version(text: &str) -> String {
    let usual = |c: char| c.is_ascii_alphanumeric() || ".-+() ".contains(c);
    if text.chars().all(usual) && !text.contains("  ") { text.to_owned() } else { print::quoted(text) }
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "—".into() } else { words.join(", ") }
}
