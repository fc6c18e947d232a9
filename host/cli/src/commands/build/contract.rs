//! The contract as text, for compilers without component support. The exports and imports of a core module determine
//! which interfaces it uses.

use anyhow::{Context, bail};
use wasmparser::{Parser, Payload};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

macro_rules! wit {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/wit/", $file)))),*]
    };
}

mod files;

pub use files::WIT;

/// The contract's interfaces in the exports and imports of a core module.
#[derive(Debug, Default, PartialEq, Eq)]
struct Uses {
    exports: Vec<String>,
    imports: Vec<String>,
    /// True if the module contains its own world, as those of wit-bindgen do.
    described: bool,
}

impl Uses {
    fn of(module: &[u8]) -> wasmparser::Result<Self> {
        let mut uses = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        add(&mut uses.imports, import?.module);
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        if let Some((interface, "handle")) = export?.name.split_once('#') {
                            add(&mut uses.exports, interface);
                        }
                    }
                }
                Payload::CustomSection(section) if section.name().starts_with("component-type") => {
                    uses.described = true;
                }
                _ => {}
            }
        }
        Ok(uses)
    }
}

/// Adds an interface of the contract. Ignores other names, such as `cabi_post_…` and `wasi_snapshot_preview1`.
fn add(interfaces: &mut Vec<String>, name: &str) {
    if name.starts_with("hookbox:hooks/") && !interfaces.iter().any(|known| known == name) {
        interfaces.push(name.to_owned());
    }
}

/// Embeds a world of the contract in a core module, unless it contains one.
pub fn describe(module: &mut Vec<u8>) -> anyhow::Result<()> {
    let uses = Uses::of(module)?;
    if uses.described {
        return Ok(());
    }
    if uses.exports.is_empty() {
        bail!(
            "it handles no event: it exports no function such as `hookbox:hooks/pre-tool-use@0.2.0#handle`, and has no \
            WIT in a custom section"
        );
    }
    let imports = uses.imports.iter().map(|name| format!("import {name};"));
    let exports = uses.exports.iter().map(|name| format!("export {name};"));
    embed(module, &imports.chain(exports).collect::<Vec<_>>().join(" "))
}

/// Embeds a world with these imports and exports in a core module.
fn embed(module: &mut Vec<u8>, world: &str) -> anyhow::Result<()> {
    let mut resolve = resolve()?;
    let text = format!("package hookbox:build;\nworld hook {{ {world} }}\n");
    let package = resolve.push_source("the hook's world", &text).context("it does not fit the contract")?;
    let world = resolve.select_world(&[package], Some("hook"))?;
    embed_component_metadata(module, &resolve, world, StringEncoding::UTF8)
}

/// The parsed contract.
pub fn resolve() -> anyhow::Result<Resolve> {
    let mut resolve = Resolve::new();
    let mut files = wit_parser::SourceMap::new();
    for (name, text) in WIT {
        files.push_str(name, *text);
    }
    let group = files.parse().map_err(|(files, error)| anyhow::anyhow!("{}", error.render(&files)))?;
    resolve.push_group(group)?;
    Ok(resolve)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_file_of_the_contract_is_missing() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, WIT.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn imports_and_exports_are_listed() {
        let module = wat::parse_str(
            r#"(module
                (import "hookbox:hooks/state@0.2.0" "get" (func (param i32 i32 i32)))
                (import "hookbox:hooks/state@0.2.0" "delete" (func (param i32 i32 i32)))
                (import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))
                (func (export "hookbox:hooks/stop@0.2.0#handle"))
                (func (export "cabi_post_hookbox:hooks/stop@0.2.0#handle")))"#,
        )
        .unwrap();
        let uses = Uses::of(&module).unwrap();
        assert_eq!(uses.imports, ["hookbox:hooks/state@0.2.0"]);
        assert_eq!(uses.exports, ["hookbox:hooks/stop@0.2.0"]);
        assert!(!uses.described);
    }

    #[test]
    fn a_module_without_an_event_is_refused() {
        let mut module = wat::parse_str("(module)").unwrap();
        assert!(describe(&mut module).unwrap_err().to_string().contains("handles no event"));
    }
}
