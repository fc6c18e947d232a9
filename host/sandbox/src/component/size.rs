//! How much a component would become, from its bytes alone: what the engine expands or descends into before it looks at
//! its own limits.
//!
//! - A component that instantiates another twice, which instantiates another twice, and so on, doubles with every few
//!   bytes.
//! - The type of a component that has a type of a component, and so on, takes some of the stack at every level, and a
//!   stack that overflows ends the process.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, ComponentTypeRef, Instance,
    Parser, Payload, TypeRef,
};

use crate::{
    error::LoadError,
    limits::{MEMORIES, TABLES},
};

/// Types of components and instances within types, in one section. Toolchains make none or a few.
const NESTED_TYPES: usize = 200;

/// Instances of components and core modules in one component, those in its parts included. `wasm-tools component new`
/// makes a handful for each interface.
const INSTANCES: u64 = 10_000;
/// Components in components. `wasm-tools` makes two levels, each composition one more.
const LEVELS: usize = 100;

/// Bytes of a page of linear memory.
pub(super) const PAGE: u64 = 64 << 10;

/// Refuses components that would not end, and those that no memory of `memory_mib` can hold. Other mistakes are the
/// engine's to find.
///
/// # Errors
/// [`LoadError::Invalid`], [`LoadError::Memory`].
pub fn check(bytes: &[u8], memory_mib: u32) -> Result<(), LoadError> {
    let begins_with = count(bytes).map_err(|why| LoadError::Invalid(why.to_owned()))?;
    let mib = begins_with.div_ceil(1 << 20);
    if mib > memory_mib.into() { Err(LoadError::Memory { mib, limit_mib: memory_mib }) } else { Ok(()) }
}

/// One component that is being read.
#[derive(Default)]
struct Level {
    /// For each component it can instantiate, how many instances that makes.
    components: Vec<u64>,
    /// How many instances it makes itself.
    instances: u64,
}

impl Level {
    fn add(&mut self, instances: u64) -> Result<(), &'static str> {
        self.instances = self.instances.saturating_add(instances);
        if self.instances > INSTANCES { Err("it has too many instances") } else { Ok(()) }
    }

    fn component(&self, index: u32) -> u64 {
        usize::try_from(index).ok().and_then(|index| self.components.get(index)).copied().unwrap_or_default()
    }
}

/// Counts what it makes, and says what all its linear memories together begin with, in bytes.
fn count(bytes: &[u8]) -> Result<u64, &'static str> {
    let (mut levels, mut begins_with): (Vec<Level>, u64) = (Vec::new(), 0);
    let (mut memories, mut tables) = (0_u32, 0_u32);
    // Modules within components have an end, too, but nothing of interest.
    let mut modules = 0_usize;
    let mut memories_of_module = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(payload) = payload else { break };
        match &payload {
            Payload::Version { encoding: wasmparser::Encoding::Component, .. } => levels.push(Level::default()),
            Payload::Version { .. } => (modules, memories_of_module) = (modules + 1, 0),
            Payload::End(_) if modules > 0 => modules -= 1,
            Payload::End(_) => {
                let ended = levels.pop().unwrap_or_default();
                if let Some(parent) = levels.last_mut() {
                    parent.components.push(ended.instances);
                }
            }
            Payload::ComponentTypeSection(section) => {
                if bytes.get(section.range()).is_some_and(|types| nested_types(types) > NESTED_TYPES) {
                    return Err("types are nested too deeply in it");
                }
            }
            _ if levels.len() > LEVELS => return Err("components are nested too deeply in it"),
            Payload::ImportSection(section) => {
                let imports = section.clone().into_imports().flatten();
                let imported = imports.filter(|import| matches!(import.ty, TypeRef::Memory(_))).count();
                memories_of_module = memories_of_module.saturating_add(u32::try_from(imported).unwrap_or(u32::MAX));
            }
            Payload::MemorySection(section) => {
                memories_of_module = memories_of_module.saturating_add(section.count());
                memories = memories.saturating_add(section.count());
                if memories > MEMORIES {
                    return Err("it has too many memories");
                }
                for memory in section.clone().into_iter().flatten() {
                    begins_with = begins_with.saturating_add(memory.initial.saturating_mul(PAGE));
                }
            }
            Payload::TableSection(section) => {
                tables = tables.saturating_add(section.count());
                if tables > TABLES {
                    return Err("it has too many tables");
                }
            }
            _ => read(&payload, &mut levels)?,
        }
        // The engine needs the proposal itself, to copy between components.
        if memories_of_module > 1 {
            return Err("a module in it has several memories");
        }
    }
    Ok(begins_with)
}

/// No fewer than there are levels: within a type, another one is `0x01`, then `0x41` for a component's or `0x42` for an
/// instance's. Reading them properly is what takes the stack.
fn nested_types(section: &[u8]) -> usize {
    section.windows(2).filter(|pair| matches!(pair, [0x01, 0x41 | 0x42])).count()
}

fn read(payload: &Payload<'_>, levels: &mut [Level]) -> Result<(), &'static str> {
    let outer = |levels: &[Level], count: u32, index| {
        let above = usize::try_from(count).unwrap_or(usize::MAX);
        let level = levels.len().checked_sub(1).and_then(|own| own.checked_sub(above));
        level.and_then(|level| levels.get(level)).map_or(0, |level| level.component(index))
    };
    match payload {
        Payload::InstanceSection(section) => {
            let Some(level) = levels.last_mut() else { return Ok(()) };
            for instance in section.clone().into_iter().flatten() {
                if let Instance::Instantiate { .. } = instance {
                    level.add(1)?;
                }
            }
        }
        Payload::ComponentInstanceSection(section) => {
            let Some(level) = levels.last_mut() else { return Ok(()) };
            for instance in section.clone().into_iter().flatten() {
                if let ComponentInstance::Instantiate { component_index, .. } = instance {
                    level.add(level.component(component_index).saturating_add(1))?;
                }
            }
        }
        Payload::ComponentAliasSection(section) => {
            for alias in section.clone().into_iter().flatten() {
                let instances = match alias {
                    ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                        outer(levels, count, index)
                    }
                    ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => {
                        return Err(PASSED);
                    }
                    _ => continue,
                };
                levels.last_mut().into_iter().for_each(|level| level.components.push(instances));
            }
        }
        Payload::ComponentImportSection(section) => {
            let component =
                |import: wasmparser::ComponentImport<'_>| matches!(import.ty, ComponentTypeRef::Component(_));
            if section.clone().into_iter().flatten().any(component) {
                return Err(PASSED);
            }
        }
        Payload::ComponentExportSection(section) => {
            let Some(level) = levels.last_mut() else { return Ok(()) };
            for export in section.clone().into_iter().flatten() {
                if export.kind == ComponentExternalKind::Component {
                    level.components.push(level.component(export.index));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// What is handed around can be anything, so it could not be counted. No toolchain makes such components.
const PASSED: &str = "a component is passed to another in it";
