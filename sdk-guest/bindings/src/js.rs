//! JavaScript: a table of the events, their types for TypeScript, and the capabilities by their names in the contract.

use std::fmt::Write as _;

use anyhow::{Context, bail};
use wit_parser::{Docs, Field, Interface, Resolve, Type, TypeDef, TypeDefKind, WorldItem};

use crate::{
    Files,
    names::{lower_camel, spoken, upper_camel},
};

const HEAD: &str = "// Written by `just bindings` from the contract. Do not edit.\n\n";
const EFFECTS: &str = "effects";

pub fn generate(resolve: &Resolve) -> anyhow::Result<Files> {
    let js = Js { resolve };
    let (mut table, mut types) = (HEAD.to_owned(), HEAD.to_owned());
    table.push_str("import { event } from \"./component.js\";\n");
    types.push_str("import type { Allow, Answer, Ask, Block, Deny, DenyPermission, Effects, Json, Pass, Respond, Skip } from \"./index.js\";\n");
    let shared = js.interface("types")?;
    for name in ["event-context", "tool-call"] {
        let id = shared.types.get(name).with_context(|| format!("the contract has no {name}"))?;
        types.push_str(&js.record(&upper_camel(name), js.def(&Type::Id(*id))?)?);
    }
    for (_, interface) in &resolve.interfaces {
        if interface.functions.contains_key("handle") {
            let event = js.event(interface)?;
            table.push_str(&event.row);
            types.push_str(&event.types);
        }
    }
    let mut files = Files::from([("js/src/events.js".into(), table), ("js/events.d.ts".into(), types)]);
    for (name, text) in js.capabilities()? {
        files.insert(format!("js/src/host/{name}.js"), text);
    }
    Ok(files)
}

struct Js<'a> {
    resolve: &'a Resolve,
}

/// Generated text for one event.
struct Event {
    row: String,
    types: String,
}

impl<'a> Js<'a> {
    fn interface(&self, name: &str) -> anyhow::Result<&'a Interface> {
        let found = self.resolve.interfaces.iter().find(|(_, i)| i.name.as_deref() == Some(name));
        Ok(found.with_context(|| format!("the contract has no {name}"))?.1)
    }

    fn def(&self, ty: &Type) -> anyhow::Result<&'a TypeDef> {
        let Type::Id(id) = ty else { bail!("a type without a name") };
        let mut def = self.resolve.types.get(*id).context("known")?;
        // `use` imports an alias of the type.
        while let (TypeDefKind::Type(Type::Id(id)), true) = (&def.kind, def.name.as_deref() != Some("json")) {
            def = self.resolve.types.get(*id).context("known")?;
        }
        Ok(def)
    }

    fn is_json(&self, ty: &Type) -> bool {
        matches!(ty, Type::Id(_)) && self.def(ty).is_ok_and(|def| def.name.as_deref() == Some("json"))
    }

    /// Returns the type inside an option.
    fn optional(&self, ty: &Type) -> Option<Type> {
        match self.def(ty).ok()?.kind {
            TypeDefKind::Option(inner) => Some(inner),
            _ => None,
        }
    }

    fn fields(def: &'a TypeDef) -> anyhow::Result<&'a [Field]> {
        match &def.kind {
            TypeDefKind::Record(record) => Ok(&record.fields),
            _ => bail!("{:?} is not a record", def.name),
        }
    }

    /// Returns the type of an input as an author sees it.
    fn spelled(&self, ty: &Type) -> anyhow::Result<&'static str> {
        Ok(match ty {
            Type::String => "string",
            Type::Bool => "boolean",
            Type::U32 | Type::U64 => "number",
            Type::Id(_) if self.is_json(ty) => "Json",
            Type::Id(_) => match &self.def(ty)?.kind {
                TypeDefKind::List(Type::String) => "string[]",
                TypeDefKind::List(_) => "Record<string, string>",
                _ => bail!("{:?} is a new type of field", self.def(ty)?.name),
            },
            other => bail!("{other:?} is not in use yet"),
        })
    }

    fn record(&self, name: &str, def: &'a TypeDef) -> anyhow::Result<String> {
        let mut text = format!("\n{}export interface {name} {{\n", docs(&def.docs, ""));
        for field in Self::fields(def)? {
            let (mark, ty) = match self.optional(&field.ty) {
                Some(inner) => ("?", self.spelled(&inner)?),
                None => ("", self.spelled(&field.ty)?),
            };
            writeln!(text, "{}  {}{mark}: {ty};", docs(&field.docs, "  "), lower_camel(&field.name))?;
        }
        text.push_str("}\n");
        Ok(text)
    }

    fn event(&self, interface: &'a Interface) -> anyhow::Result<Event> {
        let name = interface.name.as_deref().context("a named interface")?;
        let handle = interface.functions.get("handle").context("a handler")?;
        let (upper, lower) = (upper_camel(name), lower_camel(name));
        let (mut types, mut inputs, mut parameters) = (String::new(), Vec::new(), String::new());
        for param in handle.params.iter().filter(|param| param.name != "context") {
            let ty = if self.is_json(&param.ty) {
                inputs.push("\"json\"".to_owned());
                "Json".to_owned()
            } else {
                let def = self.def(&param.ty)?;
                let json = Self::fields(def)?
                    .iter()
                    .filter(|field| self.is_json(&self.optional(&field.ty).unwrap_or(field.ty)))
                    .map(|field| format!("\"{}\"", lower_camel(&field.name)));
                inputs.push(format!("[{}]", json.collect::<Vec<_>>().join(", ")));
                match def.name.as_deref().context("named")? {
                    "tool-call" => "ToolCall".to_owned(),
                    own => {
                        let ty = match own {
                            "event" if name.ends_with("-event") => upper.clone(),
                            "event" => format!("{upper}Event"),
                            "failure" => "ToolFailure".into(),
                            other => upper_camel(other),
                        };
                        types.push_str(&self.record(&ty, def)?);
                        ty
                    }
                }
            };
            write!(parameters, "{}: {ty}, ", lower_camel(&param.name))?;
        }
        let TypeDefKind::Result(result) = &self.def(&handle.result.context("a result")?)?.kind else {
            bail!("{name} may not fail")
        };
        let (output, answer) = match &result.ok {
            None => ("\"nothing\"".to_owned(), "void".to_owned()),
            Some(ty) if self.optional(ty).is_some() => ("\"json\"".to_owned(), "Json".to_owned()),
            Some(ty) if self.def(ty)?.name.as_deref() == Some(EFFECTS) => ("\"effects\"".into(), "Effects".into()),
            Some(ty) => {
                let (row, ty) = self.output(&format!("{upper}Output"), Self::fields(self.def(ty)?)?)?;
                types.push_str(&ty);
                (row, format!("{upper}Output"))
            }
        };
        write!(
            types,
            "\n{}export type On{upper} = ({parameters}context: EventContext) => Answer<{answer}>;\n",
            docs(&interface.docs, "")
        )?;
        let inputs = inputs.join(", ");
        let row = format!("\nexport const {lower} = /* @__PURE__ */ event(\"on{upper}\", [{inputs}], {output});\n");
        Ok(Event { row, types })
    }

    /// Returns the output's part of the row, and the type of a handler's return value.
    fn output(&self, name: &str, fields: &'a [Field]) -> anyhow::Result<(String, String)> {
        let (mut row, mut kinds, mut members) = (String::from("{"), Vec::new(), String::new());
        let mut ty = String::from("Effects");
        for field in fields.iter().filter(|field| field.name != EFFECTS) {
            let lower = lower_camel(&field.name);
            if field.name == "decision" {
                let (cases, union) = self.decision(self.def(&field.ty)?)?;
                write!(row, " decision: {{ {cases} }},")?;
                ty = format!("({union}) & Effects");
                continue;
            }
            let inner = self.optional(&field.ty).unwrap_or(field.ty);
            let kind = match self.spelled(&inner)? {
                "Json" => "json",
                "string" => "text",
                "Record<string, string>" => "pairs",
                _ => bail!("{name} has an output field of a new type"),
            };
            kinds.push(format!("{lower}: \"{kind}\""));
            writeln!(members, "{}  {lower}?: {};", docs(&field.docs, "  "), self.spelled(&inner)?)?;
        }
        write!(row, " fields: {{ {} }} }}", kinds.join(", "))?;
        if !members.is_empty() {
            write!(ty, " & {{\n{members}}}")?;
        }
        Ok((row.replace("{  }", "{}"), format!("\nexport type {name} = {ty};\n")))
    }

    fn decision(&self, def: &'a TypeDef) -> anyhow::Result<(String, String)> {
        let TypeDefKind::Variant(variant) = &def.kind else { bail!("a decision is a variant") };
        let (mut cases, mut union) = (Vec::new(), vec!["Pass"]);
        for case in variant.cases.iter().filter(|case| case.name != "pass") {
            let ty = case.ty.with_context(|| format!("{} has a reason", case.name))?;
            let payload = match self.def(&ty)? {
                TypeDef { kind: TypeDefKind::Option(Type::String), .. } => "reason",
                def => def.name.as_deref().context("a named payload")?,
            };
            cases.push(format!("{}: \"{payload}\"", case.name));
            union.push(match (case.name.as_str(), payload) {
                ("allow", "reason") => "Allow",
                ("ask", "reason") => "Ask",
                ("deny", "reason") => "Deny",
                ("deny", "denial") => "DenyPermission",
                ("skip", "reason") => "Skip",
                ("block", "reason") => "Block",
                ("respond", "response") => "Respond",
                (other, _) => bail!("there is no constructor for {other}"),
            });
        }
        Ok((cases.join(", "), union.join(" | ")))
    }

    /// Writes one module per capability. A bundle contains only those that the hook calls.
    fn capabilities(&self) -> anyhow::Result<Vec<(String, String)>> {
        let world = self.resolve.worlds.iter().find(|(_, world)| world.name == "capabilities");
        let (_, world) = world.context("the contract has no world `capabilities`")?;
        let mut files = Vec::new();
        for item in world.imports.values() {
            let WorldItem::Interface { id, .. } = item else { continue };
            let interface = self.resolve.interfaces.get(*id).context("known")?;
            if interface.functions.is_empty() {
                continue;
            }
            let functions: Vec<_> = interface.functions.keys().map(|name| lower_camel(name)).collect();
            let module = self.resolve.id_of(*id).context("in a package")?;
            let text = format!("{HEAD}export {{ {} }} from \"{module}\";\n", functions.join(", "));
            files.push((interface.name.clone().context("named")?, text));
        }
        Ok(files)
    }
}

/// Phrases of the contract's documentation, and their replacements for JavaScript.
const WORDS: &[(&str, &str)] = &[
    ("Fields that a dialect does not send are `none`", "Fields that a dialect does not send are missing"),
    ("`none`: not rewritten", "Missing: not rewritten"),
    ("`event.raw` has", "`rawEvent()` is"),
    ("`context.event-name`", "`context.eventName`"),
];

fn docs(docs: &Docs, indent: &str) -> String {
    let text = spoken(docs.contents.as_deref().unwrap_or_default().trim_end(), WORDS);
    let lines: Vec<_> = text.lines().collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines = lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}
