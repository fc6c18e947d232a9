//! Removes the socket imports of a component.
//!
//! Python's standard library imports WASI's sockets even if a hook opens none, and no host provides sockets. So these
//! imports are replaced by instances of an inner component without functionality. It is never called, because the SDK
//! raises an exception when a socket is opened.

use anyhow::{Context, bail};
use wasm_encoder::{
    Alias, CodeSection, ComponentAliasSection, ComponentExportKind, ComponentExportSection, ComponentInstanceSection,
    ComponentSectionId, ExportKind, ExportSection, Function, FunctionSection, MemorySection, MemoryType, Module,
    RawSection, TypeSection, ValType,
};
use wasmparser::{Chunk, ComponentExternalKind, ComponentInstance, ComponentTypeRef, Parser, Payload};
use wit_component::{ComponentEncoder, DecodedWasm, StringEncoding, decode, embed_component_metadata};
use wit_parser::{
    Resolve, WorldKey,
    abi::{AbiVariant, WasmType},
};

const SOCKETS: &str = "wasi:sockets/";

/// The component without its socket imports.
pub fn removed(component: &[u8]) -> anyhow::Result<Vec<u8>> {
    let DecodedWasm::Component(resolve, world) = decode(component)? else { bail!("it is not a component") };
    let imports = resolve.worlds.get(world).context("a world")?.imports.keys();
    let names: Vec<_> =
        imports.map(|key| resolve.name_world_key(key)).filter(|name| name.starts_with(SOCKETS)).collect();
    if names.is_empty() {
        return Ok(component.to_vec());
    }
    Rewriter::new(empty(resolve, &names)?).rewrite(component)
}

/// A component that exports these interfaces without functionality.
fn empty(mut resolve: Resolve, names: &[String]) -> anyhow::Result<Vec<u8>> {
    let exports = names.iter().map(|name| format!("export {name};")).collect::<Vec<_>>().join(" ");
    let package = resolve.push_source("empty.wit", &format!("package hookbox:empty; world empty {{ {exports} }}"))?;
    let world = resolve.select_world(&[package], Some("empty"))?;
    let mut functions = Vec::new();
    for key in resolve.worlds.get(world).context("a world")?.exports.keys() {
        let WorldKey::Interface(id) = key else { bail!("an interface") };
        let interface = resolve.interfaces.get(*id).context("an interface")?;
        let name = resolve.name_world_key(key);
        for function in interface.functions.values() {
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            functions.push((format!("{name}#{}", function.name), signature.params, signature.results));
        }
    }
    functions.push(("cabi_realloc".into(), vec![WasmType::I32; 4], vec![WasmType::I32]));
    let mut module = traps(&functions);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().validate(true).module(&module)?.encode()
}

/// A module with a memory and these functions, each of which traps.
fn traps(functions: &[(String, Vec<WasmType>, Vec<WasmType>)]) -> Vec<u8> {
    let (mut types, mut declared, mut memories) = (TypeSection::new(), FunctionSection::new(), MemorySection::new());
    let (mut exports, mut bodies) = (ExportSection::new(), CodeSection::new());
    let memory = MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
    memories.memory(memory);
    exports.export("memory", ExportKind::Memory, 0);
    for (index, (name, params, results)) in (0..).zip(functions) {
        let of = |types: &[WasmType]| types.iter().map(|ty| core_type(*ty)).collect::<Vec<_>>();
        types.ty().function(of(params), of(results));
        declared.function(index);
        exports.export(name, ExportKind::Func, index);
        let mut body = Function::new([]);
        body.instructions().unreachable().end();
        bodies.function(&body);
    }
    let mut module = Module::new();
    module.section(&types).section(&declared).section(&memories).section(&exports).section(&bodies);
    module.finish()
}

const fn core_type(ty: WasmType) -> ValType {
    match ty {
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
    }
}

/// Copies a component section by section. The replacement adds one instance and one component, so later indices
/// increase by one.
struct Rewriter {
    empty: Vec<u8>,
    out: Vec<u8>,
    /// The instances so far, by the name of their import.
    imported: Vec<String>,
    /// The index of the instance without functionality.
    place: Option<u32>,
}

impl Rewriter {
    fn new(empty: Vec<u8>) -> Self {
        Self { empty, out: Vec::new(), imported: Vec::new(), place: None }
    }

    fn rewrite(mut self, component: &[u8]) -> anyhow::Result<Vec<u8>> {
        let (mut parser, mut at) = (Parser::new(0), 0);
        loop {
            let rest = component.get(at..).unwrap_or_default();
            let Chunk::Parsed { consumed, payload } = parser.parse(rest, true)? else { bail!("it ends too soon") };
            let mut end = at + consumed;
            let mut copy = true;
            match payload {
                Payload::End(_) => return Ok(self.out),
                Payload::ModuleSection { unchecked_range, .. } | Payload::ComponentSection { unchecked_range, .. } => {
                    end = unchecked_range.end;
                }
                Payload::ComponentImportSection(section) => copy = !self.imports(section)?,
                // The name section refers to old indices.
                Payload::CustomSection(section) if section.name() == "component-name" => copy = false,
                Payload::ComponentAliasSection(section) if self.place.is_some() => {
                    copy = false;
                    self.aliases(section)?;
                }
                Payload::ComponentInstanceSection(section) if self.place.is_some() => {
                    copy = false;
                    self.instances(section)?;
                }
                Payload::ComponentExportSection(section) if self.place.is_some() => {
                    copy = false;
                    self.exports(section)?;
                }
                _ => {}
            }
            if copy {
                self.out.extend(component.get(at..end).unwrap_or_default());
            }
            at = end;
        }
    }

    fn section(&mut self, section: &impl wasm_encoder::ComponentSection) {
        section.append_to_component(&mut self.out);
    }

    /// Copies an import section without socket imports. Returns true if there were any.
    fn imports(&mut self, section: wasmparser::ComponentImportSectionReader<'_>) -> anyhow::Result<bool> {
        let imports = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        let sockets = imports.iter().any(|import| import.name.name.starts_with(SOCKETS));
        for import in imports {
            let name = import.name.name;
            let ComponentTypeRef::Instance(ty) = import.ty else {
                bail!("it imports {name}, which is not an interface")
            };
            if name.starts_with(SOCKETS) {
                let instance = self.nothing()?;
                let kind = ComponentExportKind::Instance;
                self.section(ComponentAliasSection::new().alias(Alias::InstanceExport { instance, kind, name }));
            } else if sockets {
                let mut import = wasm_encoder::ComponentImportSection::new();
                self.section(import.import(name, wasm_encoder::ComponentTypeRef::Instance(ty)));
            }
            self.imported.push(name.to_owned());
        }
        Ok(sockets)
    }

    /// The index of the instance without functionality. Creates it on first use, when everything that it needs has been
    /// imported.
    fn nothing(&mut self) -> anyhow::Result<u32> {
        if let Some(place) = self.place {
            return Ok(place);
        }
        let (mut arguments, mut depth) = (Vec::new(), 0_usize);
        for payload in Parser::new(0).parse_all(&self.empty) {
            let section = match payload? {
                Payload::Version { .. } => {
                    depth += 1;
                    continue;
                }
                Payload::End(_) => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                Payload::ComponentImportSection(section) if depth == 1 => section,
                _ => continue,
            };
            for import in section {
                let name = import?.name.name.to_owned();
                let index = self.imported.iter().position(|known| *known == name);
                let index = index.with_context(|| format!("{name} is imported too late"))?;
                arguments.push((name, ComponentExportKind::Instance, u32::try_from(index)?));
            }
        }
        let empty = std::mem::take(&mut self.empty);
        self.section(&RawSection { id: ComponentSectionId::Component.into(), data: &empty });
        self.section(ComponentInstanceSection::new().instantiate(0, arguments));
        let place = u32::try_from(self.imported.len())?;
        self.place = Some(place);
        Ok(place)
    }

    fn moved(&self, instance: u32) -> u32 {
        if self.place.is_some_and(|place| instance >= place) { instance + 1 } else { instance }
    }

    fn kind(&self, kind: ComponentExternalKind, index: u32) -> (ComponentExportKind, u32) {
        match kind {
            ComponentExternalKind::Module => (ComponentExportKind::Module, index),
            ComponentExternalKind::Func => (ComponentExportKind::Func, index),
            ComponentExternalKind::Value => (ComponentExportKind::Value, index),
            ComponentExternalKind::Type => (ComponentExportKind::Type, index),
            ComponentExternalKind::Instance => (ComponentExportKind::Instance, self.moved(index)),
            ComponentExternalKind::Component => (ComponentExportKind::Component, index + 1),
        }
    }

    fn aliases(&mut self, section: wasmparser::ComponentAliasSectionReader<'_>) -> anyhow::Result<()> {
        use wasmparser::ComponentAlias as Read;
        let mut aliases = ComponentAliasSection::new();
        for alias in section {
            aliases.alias(match alias? {
                Read::InstanceExport { kind, instance_index, name } => {
                    Alias::InstanceExport { instance: self.moved(instance_index), kind: self.kind(kind, 0).0, name }
                }
                Read::CoreInstanceExport { kind, instance_index, name } => {
                    let kind = match kind {
                        wasmparser::ExternalKind::Table => ExportKind::Table,
                        wasmparser::ExternalKind::Memory => ExportKind::Memory,
                        wasmparser::ExternalKind::Global => ExportKind::Global,
                        wasmparser::ExternalKind::Tag => ExportKind::Tag,
                        _ => ExportKind::Func,
                    };
                    Alias::CoreInstanceExport { instance: instance_index, kind, name }
                }
                Read::Outer { .. } => bail!("an outer alias at the top"),
            });
        }
        self.section(&aliases);
        Ok(())
    }

    fn instances(&mut self, section: wasmparser::ComponentInstanceSectionReader<'_>) -> anyhow::Result<()> {
        let mut instances = ComponentInstanceSection::new();
        for instance in section {
            match instance? {
                ComponentInstance::Instantiate { component_index, args } => {
                    let args: Vec<_> = args
                        .iter()
                        .map(|arg| {
                            let (kind, index) = self.kind(arg.kind, arg.index);
                            (arg.name, kind, index)
                        })
                        .collect();
                    instances.instantiate(component_index + 1, args);
                }
                ComponentInstance::FromExports(exports) => {
                    let exports: Vec<_> = exports
                        .iter()
                        .map(|export| {
                            let (kind, index) = self.kind(export.kind, export.index);
                            (export.name.name, kind, index)
                        })
                        .collect();
                    instances.export_items(exports);
                }
            }
        }
        self.section(&instances);
        Ok(())
    }

    fn exports(&mut self, section: wasmparser::ComponentExportSectionReader<'_>) -> anyhow::Result<()> {
        let mut exports = ComponentExportSection::new();
        for export in section {
            let export = export?;
            if export.ty.is_some() {
                bail!("an export with a type of its own");
            }
            let (kind, index) = self.kind(export.kind, export.index);
            exports.export(export.name.name, kind, index, None);
        }
        self.section(&exports);
        Ok(())
    }
}
