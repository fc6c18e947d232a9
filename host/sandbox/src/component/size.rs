//! Checks of a component's size from its bytes alone, before the engine expands or descends into it. The engine applies
//! its own limits too late for two kinds of components:
//! - A component that instantiates another one twice, which does the same, and so on. Its size doubles with every few
//!   bytes.
//! - A component type that contains a component type, and so on. Each level uses stack, and a stack overflow ends the
//!   process.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, ComponentTypeRef, Instance,
    Parser, Payload, TypeRef,
};

use crate::{
    error::LoadError,
    limits::{MEMORIES, TABLES},
};

/// Maximum number of component and instance types nested in types, per section. Toolchains create none or a few.
const NESTED_TYPES: usize = 200;

/// Maximum number of instances of components and core modules in one component, including its nested components.
/// `wasm-tools component new` creates a few per interface.
const INSTANCES: u64 = 10_000;
/// Maximum nesting depth of components. `wasm-tools` creates two levels, and each composition adds one.
const LEVELS: usize = 100;

/// Bytes of a page of linear memory.
pub(super) const PAGE: u64 = 64 << 10;

/// Refuses components that would expand without end, and those whose initial memories exceed `memory_mib`. The engine
/// finds all other errors.
///
/// # Errors
/// [`LoadError::Invalid`], [`LoadError::Memory`].
pub fn check(bytes: &[u8], memory_mib: u32) -> Result<(), LoadError> {
    let begins_with = count(bytes).map_err(|why| LoadError::Invalid(why.to_owned()))?;
    let mib = begins_with.div_ceil(1 << 20);
    if mib > memory_mib.into() { Err(LoadError::Memory { mib, limit_mib: memory_mib }) } else { Ok(()) }
}

/// A component that is being read.
#[derive(Default)]
struct Level {
    /// For each component it can instantiate, the number of instances that this creates.
    components: Vec<u64>,
    /// Number of instances that it creates itself.
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

/// Counts the instances, and returns the initial size of all linear memories in bytes.
fn count(bytes: &[u8]) -> Result<u64, &'static str> {
    let (mut levels, mut begins_with): (Vec<Level>, u64) = (Vec::new(), 0);
    let (mut memories, mut tables) = (0_u32, 0_u32);
    // Core modules inside components also have an end event, which must not end a component's level.
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
        // The multi-memory proposal stays enabled because the engine needs it to copy between components.
        if memories_of_module > 1 {
            return Err("a module in it has several memories");
        }
    }
    Ok(begins_with)
}

/// Returns an upper bound on the nesting depth. Within a type, a nested one is `0x01`, then `0x41` for a component or
/// `0x42` for an instance. Parsing them properly would use the stack.
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

/// Message for components passed as arguments. They cannot be counted, and no toolchain creates them.
const PASSED: &str = "a component is passed to another in it";
