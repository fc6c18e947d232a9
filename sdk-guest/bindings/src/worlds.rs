//! Rust: the SDK's bindings, one file per world, as wit-bindgen generates them. They are committed, so that an author's
//! first build does not compile wit-bindgen's generator.

use std::path::Path;

use anyhow::Context;
use wit_bindgen_core::{WorldGenerator, wit_parser::Resolve};
use wit_bindgen_rust::{Opts, WithOption};

use crate::{Files, rust::HEAD};

const FOLDER: &str = "sdk-guest/rust/src/bindings";
/// The world with the shared types and the capabilities. Worlds with an event use its module.
const CAPABILITIES: &str = "capabilities";
/// The prefix of worlds with one event.
const EVENT: &str = "on-";

/// Writes files relative to the project, from the folder of the contract.
pub fn generate(wit: &Path) -> anyhow::Result<Files> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit)?;
    let package = resolve.packages.get(package).context("the contract is a package")?;
    let interfaces = package.interfaces.keys().map(|name| package.name.interface_id(name));
    let shared = interfaces.map(|interface| {
        let name = interface.split(['/', '@']).nth(1).unwrap_or_default().replace('-', "_");
        (interface.clone(), WithOption::Path(format!("crate::bindings::shared::hookbox::hooks::{name}")))
    });
    let capabilities = resolve.worlds.get(*package.worlds.get(CAPABILITIES).context(CAPABILITIES)?);
    let imports: Vec<_> =
        capabilities.context(CAPABILITIES)?.imports.keys().map(|key| resolve.name_world_key(key)).collect();
    let shared: Vec<_> = shared.filter(|(interface, _)| imports.contains(interface)).collect();

    let capabilities = Opts { generate_unused_types: true, ..options() };
    let mut files = Files::from([(format!("{FOLDER}/shared.rs"), world(wit, CAPABILITIES, capabilities)?)]);
    for name in package.worlds.keys() {
        let Some(event) = name.strip_prefix(EVENT) else { continue };
        let module = event.replace('-', "_");
        let options = Opts {
            pub_export_macro: true,
            export_macro_name: Some(format!("export_{module}")),
            with: shared.clone(),
            ..options()
        };
        files.insert(format!("{FOLDER}/events/{module}.rs"), world(wit, name, options)?);
    }
    Ok(files)
}

fn options() -> Opts {
    Opts { format: true, additional_derive_attributes: vec!["PartialEq".into()], ..Opts::default() }
}

/// The bindings of one world. Generating changes the parsed contract, so each world parses it again.
fn world(wit: &Path, name: &str, options: Opts) -> anyhow::Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit)?;
    let world = resolve.select_world(&[package], Some(name))?;
    let mut files = wit_bindgen_core::Files::default();
    options.build().generate(&mut resolve, world, &mut files)?;
    let (_, text) = files.iter().next().context("a world has one file")?;
    let lines = std::str::from_utf8(text)?.lines();
    // The documentation is in the WIT. Here it would be in eighteen files.
    let lines: Vec<_> = lines.filter(|line| !line.trim_start().starts_with("///")).collect();
    Ok(format!("{HEAD}{}\n", lines.join("\n")))
}
