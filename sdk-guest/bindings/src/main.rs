//! `just bindings`: writes what an SDK has from `wit/`. With `--check` it writes nothing and says what is stale.

#![allow(clippy::print_stderr)] // what it says is for whoever ran it

mod go;
mod js;
mod names;
mod python;

use std::{collections::BTreeMap, fs, path::Path, process::ExitCode};

use anyhow::Context;
use wit_parser::Resolve;

/// File, relative to `sdk-guest/`, and what is in it.
type Files = BTreeMap<String, String>;

fn main() -> anyhow::Result<ExitCode> {
    let sdks = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = generate(&sdks.join("../wit"))?;
    let stale: Vec<_> =
        files.iter().filter(|(name, text)| fs::read_to_string(sdks.join(name)).ok().as_ref() != Some(text)).collect();
    if std::env::args().any(|argument| argument == "--check") {
        for (name, _) in &stale {
            eprintln!("sdk-guest/{name} is not what the contract says: run `just bindings`");
        }
        return Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    for (name, text) in stale {
        let file = sdks.join(name);
        fs::create_dir_all(file.parent().context("inside an SDK")?)?;
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        eprintln!("sdk-guest/{name}");
    }
    Ok(ExitCode::SUCCESS)
}

fn generate(wit: &Path) -> anyhow::Result<Files> {
    let mut resolve = Resolve::new();
    resolve.push_dir(wit)?;
    let mut files = go::generate(&resolve)?;
    files.extend(js::generate(&resolve)?);
    files.extend(python::generate(&resolve)?);
    Ok(files)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_those_of_the_contract() {
        let sdks = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (name, text) in generate(&sdks.join("../wit")).unwrap() {
            let found = fs::read_to_string(sdks.join(&name)).unwrap_or_default();
            assert!(found == text, "sdk-guest/{name} is not what the contract says: run `just bindings`");
        }
    }
}
