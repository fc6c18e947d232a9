//! Turns a compiler's output into a component file: embeds the world, adapts, encodes, adds metadata, validates, and
//! writes it atomically.

use std::{fs, path::Path};

use hookbox::{
    folders,
    sandbox::{CompileLimits, Compiler, Component, Engine, EngineOptions, Permissions},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use wasm_encoder::{ComponentSection, CustomSection};
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use super::{contract, language::Compiled, snapshot};
use crate::{exit::Exit, print};

/// The custom section with the digest of the component's source.
const SOURCE: &str = "hookbox-source";

/// A digest of everything a component is made from, including this program's version.
pub fn source<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in std::iter::once(env!("CARGO_PKG_VERSION").as_bytes()).chain(parts) {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    format!("{:x}", hasher.finalize())
}

/// Returns true if the component in this file was made from this source.
pub fn is_made_from(file: &Path, source: &str) -> bool {
    let Ok(bytes) = fs::read(file) else { return false };
    let sections = Parser::new(0).parse_all(&bytes);
    sections.map_while(Result::ok).any(|payload| {
        matches!(payload, Payload::CustomSection(section) if section.name() == SOURCE && section.data() == source.as_bytes())
    })
}

/// Makes the component, and embeds the digest of its source.
pub fn make(compiled: Compiled, source: &str) -> anyhow::Result<Vec<u8>> {
    let Compiled { wasm, adapters, made_with, .. } = compiled;
    let component = if Parser::is_component(&wasm) { wasm } else { encode(wasm, adapters)? };
    let mut component = made_with.to_wasm(&component)?;
    CustomSection { name: SOURCE.into(), data: source.as_bytes().into() }.append_to_component(&mut component);
    Ok(component)
}

fn encode(module: Vec<u8>, adapters: Vec<(&'static str, Vec<u8>)>) -> anyhow::Result<Vec<u8>> {
    let mut module = snapshot::prepared(module)?;
    contract::describe(&mut module)?;
    let mut encoder = ComponentEncoder::default().validate(true).module(&module)?;
    for (name, adapter) in adapters {
        encoder = encoder.adapter(name, &adapter)?;
    }
    encoder.encode()
}

/// Loads the component with every permission that it needs. Its compiled code stays in the cache for the first
/// event.
pub fn validate(component: &[u8]) -> anyhow::Result<()> {
    let granted: Permissions =
        serde_json::from_value(json!({ "state": true, "http": ["https://example.com"], "llm": true }))?;
    let compiler = Compiler { program: crate::commands::compiler(), limits: CompileLimits::default() };
    let options = EngineOptions { cache_dir: folders::cache(), compiler: Some(compiler), ..EngineOptions::default() };
    print::err("compiling it for this machine");
    match Component::new(&Engine::new(options)?, component, &granted, Path::new(".")) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Exit::Config.advised(format!("the hook cannot be used: {error}"), &[&hookbox::remedy(&error)]))
        }
    }
}
