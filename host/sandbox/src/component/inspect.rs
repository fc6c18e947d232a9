//! Properties of a component, read from its bytes alone. Nothing is compiled or run.

use std::collections::HashSet;

use hookbox_protocol::EventKind;
use wasmparser::{Encoding, KnownCustom, Parser, Payload, ProducersSectionReader};

use crate::{
    digest::sha256,
    error::LoadError,
    imports::{Imports, handled},
    permission::Grant,
};

/// Properties of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Size in bytes.
    pub size: usize,
    /// SHA-256 in hexadecimal.
    pub digest: String,
    /// The contract that the component was built for, such as `hookbox:hooks@0.2.0`.
    pub contract: Option<String>,
    /// The events that the component handles.
    pub handles: Vec<EventKind>,
    /// Interfaces that must be granted.
    pub asks: Vec<Grant>,
    /// Imports that are linked for every hook and give nothing unless directories or variables are granted.
    pub inert: Vec<String>,
    /// Imports that no hook can have.
    pub refused: Vec<String>,
    /// The source language, as reported by the compiler.
    pub language: Option<String>,
    /// All tools that claim to have built a part of it.
    pub producers: Vec<Producer>,
}

/// A line of the producers section.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Producer {
    /// `language`, `processed-by` or `sdk`.
    pub field: String,
    /// For example `rustc`.
    pub name: String,
    /// For example `1.95.0`; may be empty.
    pub version: String,
}

/// Inspects a component.
///
/// # Errors
/// [`LoadError::NotWasm`], [`LoadError::CoreModule`], [`LoadError::Invalid`], [`LoadError::Version`].
pub fn inspect(bytes: &[u8]) -> Result<Inspection, LoadError> {
    check_header(bytes)?;
    let parts = Parts::read(bytes).map_err(|e| LoadError::Invalid(e.to_string()))?;
    let imports = Imports::sort(parts.imports.iter().map(String::as_str))?;
    let mut handles = Vec::new();
    for export in &parts.exports {
        handles.extend(handled(export)?);
    }
    // The contract's order does not depend on the tool that encoded the component.
    handles.sort();
    let language = parts.producers.iter().find(|p| p.field == "language").map(|p| p.name.clone());
    Ok(Inspection {
        size: bytes.len(),
        digest: sha256(bytes),
        contract: parts.exports.iter().chain(&parts.imports).find_map(|name| contract(name)),
        handles,
        asks: imports.asks,
        inert: imports.inert,
        refused: imports.refused,
        language,
        producers: parts.producers,
    })
}

/// Checks that the bytes are a component and not a core module or another file.
pub(super) fn check_header(bytes: &[u8]) -> Result<(), LoadError> {
    match Parser::new(0).parse_all(bytes).next() {
        Some(Ok(Payload::Version { encoding: Encoding::Component, .. })) => Ok(()),
        Some(Ok(Payload::Version { encoding: Encoding::Module, .. })) => Err(LoadError::CoreModule),
        _ => Err(LoadError::NotWasm),
    }
}

/// `hookbox:hooks/stop@0.2.0` → `hookbox:hooks@0.2.0`
fn contract(name: &str) -> Option<String> {
    let (interface, version) = name.split_once('@')?;
    interface.starts_with("hookbox:hooks/").then(|| format!("hookbox:hooks@{version}"))
}

#[derive(Default)]
struct Parts {
    imports: Vec<String>,
    exports: Vec<String>,
    producers: Vec<Producer>,
    /// The producers found so far. Every nested module has its own section, mostly with the same content.
    known: HashSet<Producer>,
    /// Nesting depth of the outermost part that names a language. An engine inside is written in another language than
    /// the hook.
    language_depth: Option<usize>,
}

impl Parts {
    fn read(bytes: &[u8]) -> wasmparser::Result<Self> {
        let (mut parts, mut depth) = (Self::default(), 0_usize);
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        parts.imports.push(import?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        parts.exports.push(export?.name.name.to_owned());
                    }
                }
                Payload::CustomSection(section) => {
                    if let KnownCustom::Producers(section) = section.as_known() {
                        parts.add_producers(section, depth)?;
                    }
                }
                _ => {}
            }
        }
        Ok(parts)
    }

    fn add_producers(&mut self, section: ProducersSectionReader<'_>, depth: usize) -> wasmparser::Result<()> {
        for field in section {
            let field = field?;
            if field.name == "language" {
                match self.language_depth {
                    Some(outer) if outer < depth => continue,
                    Some(inner) if inner > depth => {
                        self.producers.retain(|producer| producer.field != "language");
                        self.known.retain(|producer| producer.field != "language");
                    }
                    _ => {}
                }
                self.language_depth = Some(depth);
            }
            for value in field.values {
                let value = value?;
                let producer = Producer {
                    field: field.name.to_owned(),
                    name: value.name.to_owned(),
                    version: value.version.to_owned(),
                };
                if self.known.insert(producer.clone()) {
                    self.producers.push(producer);
                }
            }
        }
        Ok(())
    }
}
