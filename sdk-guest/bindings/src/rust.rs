//! Rust: the lists of events in the sandbox, the SDK and the command line, and the calls of events that follow from the
//! contract alone.

use std::fmt::Write as _;

use anyhow::{Context, bail};
use wit_parser::{Field, Interface, Resolve, Type, TypeDef, TypeDefKind, WorldItem};

use crate::{Files, names::upper_camel};

pub const HEAD: &str = "// Written by `just bindings` from the contract. Do not edit.\n";

/// Names that some dialects use for an event, and the event's name in the SDK.
const FOREIGN_NAMES: [[&str; 4]; 4] = [
    ["Compaction", "blade", "Compaction", "PreCompact"],
    ["BeforeTool", "picoclaw", "before_tool", "PreToolUse"],
    ["AfterTool", "picoclaw", "after_tool", "PostToolUse"],
    ["ApproveTool", "picoclaw", "approve_tool", "PermissionRequest"],
];

/// Writes files relative to the project, from the contract and the names of its files.
pub fn generate(resolve: &Resolve, mut wit_files: Vec<String>) -> anyhow::Result<Files> {
    let events = events(resolve)?;
    let mut names: Vec<_> = events.iter().filter_map(|event| event.name.as_deref()).map(Name::of).collect();
    let mut files = Files::from([
        ("sdk-guest/rust/src/bindings/events.rs".into(), worlds(&names)?),
        ("sdk-guest/rust/src/export/events.rs".into(), exports(&names)?),
    ]);
    wit_files.sort();
    files.insert("host/cli/src/commands/build/contract/files.rs".into(), contract(&wit_files)?);
    let calls = "host/sandbox/src/call/event";
    names.sort_by(|a, b| a.module.cmp(&b.module));
    files.insert("sdk-guest/rust/src/event.rs".into(), modules(&names)?);
    files.insert("sdk-guest/rust/src/event/traits.rs".into(), traits(&names)?);
    files.insert(format!("{calls}.rs"), calls_of(&names)?);
    for event in events {
        if let (Some(name), Some(text)) = (&event.name, plain_call(resolve, event)?) {
            files.insert(format!("{calls}/{}.rs", Name::of(name).module), text);
        }
    }
    Ok(files)
}

/// Spellings of an event's name.
struct Name {
    wit: String,
    module: String,
    upper: String,
}

impl Name {
    fn of(wit: &str) -> Self {
        Self { wit: wit.into(), module: wit.replace('-', "_"), upper: upper_camel(wit) }
    }
}

/// Returns the events in the order of the world `all-hooks`.
fn events(resolve: &Resolve) -> anyhow::Result<Vec<&Interface>> {
    let world = resolve.worlds.iter().find(|(_, world)| world.name == "all-hooks");
    let (_, world) = world.context("the contract has no world `all-hooks`")?;
    let interface = |item: &WorldItem| match item {
        WorldItem::Interface { id, .. } => resolve.interfaces.get(*id),
        _ => None,
    };
    Ok(world.exports.values().filter_map(interface).collect())
}

fn worlds(names: &[Name]) -> anyhow::Result<String> {
    let mut text = format!("{HEAD}\n//! The worlds with one event.\n\n");
    for Name { module, .. } in names {
        writeln!(text, "#[rustfmt::skip]\npub mod {module};")?;
    }
    Ok(text)
}

fn exports(names: &[Name]) -> anyhow::Result<String> {
    let mut text = format!(
        "{HEAD}\n/// One event: checked everywhere, exported where there is a component to export from.\n\
        #[doc(hidden)]\n#[macro_export]\nmacro_rules! __export {{\n"
    );
    for Name { module, upper, .. } in names {
        writeln!(text, "    ($hook:ident: {upper}) => {{")?;
        writeln!(text, "        $crate::__export_event!($hook: {upper}, {module}, export_{module});\n    }};")?;
    }
    text.push_str(
        "    // One hook serves every dialect, so an event has one name. These are its names in single dialects.\n",
    );
    for [foreign, dialect, wire, name] in FOREIGN_NAMES {
        writeln!(text, "    ($hook:ident: {foreign}) => {{")?;
        writeln!(text, "        ::core::compile_error!(\"{dialect}'s `{wire}` is `{name}` here\");\n    }};")?;
    }
    let upper: Vec<_> = names.iter().map(|name| name.upper.as_str()).collect();
    let (last, others) = upper.split_last().context("an event")?;
    text.push_str("    ($hook:ident: $unknown:ident) => {\n        ::core::compile_error!(::core::concat!(\n");
    text.push_str("            \"`\",\n            ::core::stringify!($unknown),\n");
    text.push_str("            \"` is not an event; the events are \",\n");
    for (index, name) in others.iter().enumerate() {
        let comma = if index + 1 < others.len() { ", " } else { "" };
        writeln!(text, "            \"{name}{comma}\",")?;
    }
    writeln!(text, "            \" and {last}\",\n        ));\n    }};\n}}")?;
    Ok(text)
}

fn contract(files: &[String]) -> anyhow::Result<String> {
    let mut text = format!("{HEAD}\n/// Every file of `wit/`.\npub const WIT: &[(&str, &str)] = wit![\n");
    for file in files {
        writeln!(text, "    \"{file}\",")?;
    }
    Ok(text + "];\n")
}

fn modules(names: &[Name]) -> anyhow::Result<String> {
    let mut text = format!("{HEAD}\n//! The events, one module each: its input, its decision, its trait.\n\n");
    for Name { module, .. } in names {
        writeln!(text, "pub mod {module};")?;
    }
    Ok(text + "\npub(crate) mod traits;\n")
}

fn traits(names: &[Name]) -> anyhow::Result<String> {
    let mut text = format!("{HEAD}\n//! The events in the prelude: each module, and the trait in it.\n\n");
    for Name { module, upper, .. } in names {
        writeln!(text, "pub use crate::{module}::{{self, {upper}}};")?;
    }
    Ok(text)
}

fn calls_of(names: &[Name]) -> anyhow::Result<String> {
    let mut text = format!(
        "{HEAD}\n//! The events, one file each: its WIT record out of the neutral input, and the neutral answer out of its \
        decision.\n\n"
    );
    for Name { module, .. } in names {
        writeln!(text, "mod {module};")?;
    }
    text.push_str(
        "\nuse hookbox_protocol::EventKind;\nuse wasmtime::component::{InstancePre, types::ComponentFunc};\n\n\
        use super::Interface;\nuse crate::store::Sandbox;\n\n\
        /// Binds one event's interface, whose `handle` has this type; `Err` says how the type differs.\n\
        pub(crate) fn bind(\n    kind: EventKind,\n    pre: &InstancePre<Sandbox>,\n    handle: &ComponentFunc,\n\
        ) -> wasmtime::Result<Box<dyn Interface>> {\n    match kind {\n",
    );
    for Name { module, upper, .. } in names {
        writeln!(text, "        EventKind::{upper} => {module}::bind(pre, handle),")?;
    }
    Ok(text + "    }\n}\n")
}

/// Writes the call of an event with plain fields and an output that has effects or a block decision only. All other
/// events have a file written by hand.
fn plain_call(resolve: &Resolve, event: &Interface) -> anyhow::Result<Option<String>> {
    let name = Name::of(event.name.as_deref().context("a named interface")?);
    let handle = event.functions.get("handle").context("an event has `handle`")?;
    let inputs: Vec<_> = handle.params.iter().filter(|param| param.name != "context").collect();
    let [input] = inputs.as_slice() else { return Ok(None) };
    let TypeDefKind::Record(record) = &def(resolve, &input.ty)?.kind else { return Ok(None) };
    let Some(fields) = record.fields.iter().map(|field| plain_field(resolve, field)).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let TypeDefKind::Result(result) = &def(resolve, &handle.result.context("a result")?)?.kind else {
        bail!("{} may not fail", name.wit)
    };
    let Some(output) = result.ok else { return Ok(None) };
    let output = def(resolve, &output)?;
    let parts: Vec<_> = match &output.kind {
        TypeDefKind::Record(record) => record.fields.iter().map(|field| field.name.as_str()).collect(),
        _ => return Ok(None),
    };
    let wit = format!("exports::hookbox::hooks::{}", name.module);
    let (uses, output, made) = match (output.name.as_deref(), parts.as_slice()) {
        (Some("effects"), _) => (
            format!("use crate::bindings::{{{wit}::Event, hookbox::hooks::types::Effects}};"),
            "Effects",
            "(effects, reader) => reader.effects(effects)",
        ),
        (_, ["decision", "effects"]) => (
            format!("use crate::bindings::{wit}::{{Event, Output}};"),
            "Output",
            "(Output { decision, effects }, reader) => reader.gate(decision, effects)",
        ),
        _ => return Ok(None),
    };
    let Name { wit, module, upper } = name;
    Ok(Some(format!(
        "{HEAD}\n//! `{wit}`\n\n{uses}\n\ninterface! {{\n    {upper}(event, input) => {module}::handle(\n        \
        fields: Event = Event {{\n{}        }}\n    ) -> {output},\n    {made}\n}}\n",
        fields.concat()
    )))
}

/// Writes a field that is copied unchanged, from the event or from its context.
fn plain_field(resolve: &Resolve, field: &Field) -> Option<String> {
    let TypeDefKind::Option(inner) = def(resolve, &field.ty).ok()?.kind else { return None };
    let lend = match inner {
        Type::String => ".as_deref()",
        Type::Bool | Type::U32 | Type::U64 => "",
        _ => return None,
    };
    let name = field.name.replace('-', "_");
    let from = if name == "agent_id" { "event.context" } else { "input" };
    Some(format!("            {name}: {from}.{name}{lend},\n"))
}

/// Follows a type's aliases to its definition.
fn def<'a>(resolve: &'a Resolve, ty: &Type) -> anyhow::Result<&'a TypeDef> {
    let Type::Id(id) = ty else { bail!("a type without a name") };
    let mut id = *id;
    loop {
        let def = resolve.types.get(id).context("known")?;
        match def.kind {
            TypeDefKind::Type(Type::Id(next)) => id = next,
            _ => return Ok(def),
        }
    }
}
