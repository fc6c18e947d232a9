//! The engine of componentize-qjs, modified to start deterministically.
//!
//! componentize-qjs starts the engine with the machine's clocks and randomness, and has no option for others. But it
//! accepts an engine from its caller. So this module extracts the engine from its package, and gives it a fixed seed
//! and stopped clocks until the first call. The SDK's randomness comes from the host (`globals/random.js`).

use anyhow::{Context, anyhow};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, Function, FunctionSection, GlobalSection, GlobalType, MemArg, Module, ValType,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{Chunk, ExternalKind, Parser, Payload, TypeRef};

/// The function that starts each call of a handler.
const CALL: &str = "wit_dylib_export_start";
/// The imports whose results differ between starts.
const SEED: (&str, &str) = ("wasi:random/insecure-seed@", "insecure-seed");
const UPTIME: (&str, &str) = ("wasi:clocks/monotonic-clock@", "now");
const TIME: (&str, &str) = ("wasi:clocks/wall-clock@", "now");

/// Extracts and modifies the engine in the package's addon.
pub fn of(addon: &[u8]) -> anyhow::Result<Vec<u8>> {
    let header = b"\0asm\x01\0\0\0";
    let starts = addon.windows(header.len()).enumerate().filter(|(_, bytes)| bytes == header);
    let engines = starts.filter_map(|(start, _)| engine_at(addon.get(start..)?));
    // Of the engines without async, the larger one is optimised for speed.
    let engine = engines.max_by_key(|engine| engine.len()).context("componentize-qjs has no supported engine")?;
    steady(engine)
}

/// The module at the start of these bytes, if it is an engine without async. A module does not contain its length, so
/// it ends where no further valid section follows.
fn engine_at(bytes: &[u8]) -> Option<&[u8]> {
    let (mut parser, mut end, mut is_engine) = (Parser::new(0), 0, false);
    while let Ok(Chunk::Parsed { consumed, payload }) = parser.parse(bytes.get(end..)?, true) {
        match payload {
            Payload::ImportSection(imports) => {
                let mut imports = imports.into_imports().map_while(Result::ok);
                if imports.any(|import| import.module == "$root") {
                    return None;
                }
            }
            Payload::ExportSection(exports) => {
                is_engine = exports.into_iter().map_while(Result::ok).any(|export| export.name == CALL);
            }
            Payload::End(_) => break,
            _ => {}
        }
        end += consumed;
    }
    bytes.get(..end).filter(|_| is_engine)
}

/// The engine with deterministic functions in place of the nondeterministic imports.
fn steady(engine: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut changes = Changes::find(engine)?;
    let mut module = Module::new();
    changes.parse_core_module(&mut module, Parser::new(0), engine).map_err(|error| anyhow!("{error}"))?;
    Ok(module.finish())
}

/// A function and its type.
#[derive(Clone, Copy)]
struct Found {
    index: u32,
    ty: u32,
}

/// The changes: calls to these functions go to new functions, which follow all others, in this order.
struct Changes {
    seed: Found,
    uptime: Found,
    time: Found,
    call: Found,
    /// The number of parameters of `call`.
    parameters: u32,
    functions: u32,
    /// The global that is set once a call has begun.
    called: u32,
}

impl Changes {
    fn find(engine: &[u8]) -> anyhow::Result<Self> {
        let (mut types, mut functions, mut globals) = (Vec::new(), Vec::new(), 0);
        let (mut names, mut call) = (Vec::new(), None);
        for payload in Parser::new(0).parse_all(engine) {
            match payload? {
                Payload::TypeSection(section) => {
                    types = section.into_iter_err_on_gc_types().collect::<Result<_, _>>()?;
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        match import.ty {
                            TypeRef::Func(ty) => {
                                functions.push(ty);
                                names.push((import.module, import.name));
                            }
                            TypeRef::Global(_) => globals += 1,
                            _ => {}
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        functions.push(ty?);
                    }
                }
                Payload::GlobalSection(section) => globals += section.count(),
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        if export.kind == ExternalKind::Func && export.name == CALL {
                            call = Some(export.index);
                        }
                    }
                }
                _ => {}
            }
        }
        let found = |index: u32| {
            let ty = functions.get(usize::try_from(index).ok()?);
            ty.map(|ty| Found { index, ty: *ty })
        };
        let import = |(module, name): (&str, &str)| {
            let index = names.iter().position(|(from, what)| from.starts_with(module) && *what == name);
            let index = index.and_then(|index| u32::try_from(index).ok());
            index.and_then(found).with_context(|| format!("the engine does not import {module} {name}"))
        };
        let call = call.and_then(found).context("the engine exports no beginning of a call")?;
        let ty = types.get(usize::try_from(call.ty)?).context("a type")?;
        Ok(Self {
            seed: import(SEED)?,
            uptime: import(UPTIME)?,
            time: import(TIME)?,
            call,
            parameters: u32::try_from(ty.params().len())?,
            functions: u32::try_from(functions.len())?,
            called: globals,
        })
    }

    fn all(&self) -> [Found; 4] {
        [self.seed, self.uptime, self.time, self.call]
    }

    /// The bodies of the new functions. `local` 0 is the address of a result that is not a number.
    fn bodies(&self) -> [Function; 4] {
        let at = |offset| MemArg { offset, align: 0, memory_index: 0 };
        let [mut seed, mut uptime, mut time, mut call] = [(); 4].map(|()| Function::new([]));
        seed.instructions().local_get(0).i64_const(0).i64_store(at(0)).local_get(0).i64_const(0).i64_store(at(8)).end();
        uptime
            .instructions()
            .global_get(self.called)
            .if_(BlockType::Result(ValType::I64))
            .call(self.uptime.index)
            .else_()
            .i64_const(0)
            .end()
            .end();
        time.instructions()
            .global_get(self.called)
            .if_(BlockType::Empty)
            .local_get(0)
            .call(self.time.index)
            .else_()
            .local_get(0)
            .i64_const(0)
            .i64_store(at(0))
            .local_get(0)
            .i32_const(0)
            .i32_store(at(8))
            .end()
            .end();
        let mut begin = call.instructions();
        begin.i32_const(1).global_set(self.called);
        (0..self.parameters).for_each(|parameter| {
            begin.local_get(parameter);
        });
        begin.call(self.call.index).end();
        [seed, uptime, time, call]
    }
}

impl Reencode for Changes {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, Error<Self::Error>> {
        let place = self.all().iter().position(|found| found.index == index);
        Ok(place.and_then(|place| u32::try_from(place).ok()).map_or(index, |place| self.functions + place))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_function_section(self, functions, section)?;
        for Found { ty, .. } in self.all() {
            functions.function(ty);
        }
        Ok(())
    }

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: wasmparser::GlobalSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_global_section(self, globals, section)?;
        globals.global(GlobalType { val_type: ValType::I32, mutable: true, shared: false }, &ConstExpr::i32_const(0));
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: wasmparser::CodeSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_code_section(self, code, section)?;
        for body in self.bodies() {
            code.function(&body);
        }
        Ok(())
    }
}
