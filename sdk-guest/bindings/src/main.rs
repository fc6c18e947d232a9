//! `just bindings`: writes the parts of the SDKs, the sandbox and the command line that are generated from `wit/`. With
//! `--check` it writes nothing and lists the stale files.

#![allow(clippy::print_stderr)] // its messages go to the developer who runs it

mod go;
mod js;
mod names;
mod python;
mod rust;
mod worlds;

use std::{collections::BTreeMap, fs, path::Path, process::ExitCode};

use anyhow::Context;
use wit_parser::Resolve;

/// File contents by path. Paths are relative to the project, and to `sdk-guest/` within the languages.
type Files = BTreeMap<String, String>;

fn main() -> anyhow::Result<ExitCode> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = generate(&project.join("wit"))?;
    let stale: Vec<_> = files
        .iter()
        .filter(|(name, text)| fs::read_to_string(project.join(name)).ok().as_ref() != Some(text))
        .collect();
    if std::env::args().any(|argument| argument == "--check") {
        for (name, _) in &stale {
            eprintln!("{name} is out of date: run `just bindings`");
        }
        return Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    for (name, text) in stale {
        let file = project.join(name);
        fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        eprintln!("{name}");
    }
    Ok(ExitCode::SUCCESS)
}

fn generate(wit: &Path) -> anyhow::Result<Files> {
    let mut resolve = Resolve::new();
    resolve.push_dir(wit)?;
    let mut sdks = go::generate(&resolve)?;
    sdks.extend(js::generate(&resolve)?);
    sdks.extend(python::generate(&resolve)?);
    let mut files: Files = sdks.into_iter().map(|(name, text)| (format!("sdk-guest/{name}"), text)).collect();
    files.extend(rust::generate(&resolve, names_in(wit)?)?);
    files.extend(worlds::generate(wit)?);
    Ok(files)
}

fn names_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_those_of_the_contract() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (name, text) in generate(&project.join("wit")).unwrap() {
            let found = fs::read_to_string(project.join(&name)).unwrap_or_default();
            assert!(found == text, "{name} is out of date: run `just bindings`");
        }
    }
}
