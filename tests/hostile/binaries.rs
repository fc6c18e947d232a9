//! Files that are made to harm their loader.

use std::fmt::Write;

use hookbox::Cause::Trap;

use hookbox_testing::guest;

use crate::stage::{End::*, Guest, component, gate};

const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

/// The bytes of a valid component, for changes.
fn honest() -> Vec<u8> {
    guest::encode(&guest::gate("", ""), guest::GATE, "")
}

fn truncated(parts: usize) -> Guest {
    let mut bytes = honest();
    bytes.truncate(bytes.len() * parts / 10);
    Guest::of(bytes)
}

/// Writes a section: its number, its length, its content.
fn section(number: u8, content: &[u8]) -> Vec<u8> {
    let mut section = vec![number];
    section.extend(leb(content.len()));
    section.extend_from_slice(content);
    section
}

fn leb(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = u8::try_from(value & 0x7f).unwrap();
        value >>= 7;
        bytes.push(if value == 0 { byte } else { byte | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}

/// A valid component with an unused section.
fn with_custom_section(bytes: usize) -> Guest {
    let mut content = b"\x04bomb".to_vec();
    content.resize(bytes, 0);
    Guest::of([honest(), section(0, &content)].concat())
}

/// Components nested in components.
fn nested(levels: usize) -> Guest {
    let inner = (0..levels).fold(HEADER.to_vec(), |inner, _| [HEADER.to_vec(), section(4, &inner)].concat());
    Guest::of(inner)
}

/// Types of components nested in each other.
fn nested_types(levels: usize) -> Guest {
    let types = [vec![1], [0x41, 1, 1].repeat(levels), vec![0x41, 0]].concat();
    Guest::of([HEADER.to_vec(), section(7, &types)].concat())
}

/// Each component has two instances of the previous one: `levels` lines make 2^`levels` instances.
fn doubling(levels: usize) -> Guest {
    let mut text = String::from("(component (component $c0 (core module $m) (core instance (instantiate $m)))");
    for level in 1..=levels {
        let one = format!("(instance (instantiate $c{}))", level - 1);
        write!(text, "(component $c{level} (alias outer 1 $c{} (component $c{})) {one}{one})", level - 1, level - 1)
            .unwrap();
    }
    write!(text, "(instance (instantiate $c{levels})))").unwrap();
    component(&text)
}

/// Lists nested in lists.
fn nested_lists(levels: usize) -> Guest {
    let mut text = String::from("(component (type $t0 (list u8))");
    for level in 1..=levels {
        write!(text, "(type $t{level} (list $t{}))", level - 1).unwrap();
    }
    component(&(text + ")"))
}

/// Each type has the previous one twice.
fn doubling_types(levels: usize) -> Guest {
    let mut text = String::from("(component (type $t0 (tuple u8 u8))");
    for level in 1..=levels {
        write!(text, "(type $t{level} (tuple $t{} $t{}))", level - 1, level - 1).unwrap();
    }
    component(&(text + ")"))
}

fn repeated(times: usize, line: impl Fn(usize) -> String) -> String {
    (0..times).map(line).collect()
}

fn exporting(names: &str) -> Guest {
    component(&format!("(component (component $c) (instance $i (instantiate $c)) {names})"))
}

/// An event's interface with a `handle` of the wrong type.
fn of_another_type(handle: &str) -> Guest {
    component(&format!(
        r#"(component
            (core module $m (memory (export "memory") 1) (func (export "f") {handle}))
            (core instance $m (instantiate $m))
            (func $f (param "x" u32) (result u32) (canon lift (core func $m "f")))
            (component $c (import "handle" (func $f (param "x" u32) (result u32))) (export "handle" (func $f)))
            (instance $i (instantiate $c (with "handle" (func $f))))
            (export "hookbox:hooks/pre-tool-use@0.2.0" (instance $i)))"#
    ))
}

/// The valid component's interface twice, the second time with a later version.
fn of_two_versions() -> Guest {
    let name = b"hookbox:hooks/pre-tool-use@0.2.1";
    // One export: its name, and the instance with index 1 (0 is the imported `types`), with that instance's type.
    let export = [&[1, 0], &leb(name.len())[..], name, &[5, 1, 0]].concat();
    Guest::of([honest(), section(11, &export)].concat())
}

hostile! {
    no_wasm_at_all: Guest::of(b"#!/bin/sh\nrm -rf /\n".to_vec()) => Refused("NotWasm", "not a WebAssembly file");
    nothing: Guest::of(Vec::new()) => Refused("NotWasm", "not a WebAssembly file");
    a_header_and_nothing_else: Guest::of(HEADER.to_vec()) => Refused("NoEvent", "handles no event");
    a_header_of_another_world: Guest::of(b"\0asm\x0e\0\x01\0".to_vec()) => Refused("NotWasm", "not a WebAssembly file");
    a_core_module: Guest::of(wat::parse_str("(module)").unwrap()) => Refused("CoreModule", "a core WebAssembly module");
    a_component_cut_short: truncated(9) => Refused("Invalid", "unexpected end-of-file");
    a_component_cut_in_half: truncated(5) => Refused("Invalid", "unexpected end-of-file");
    a_component_cut_early: truncated(1) => Refused("Invalid", "unexpected end-of-file");
    /// A section with a length of 4 GiB.
    a_length_beyond_the_file: Guest::of([HEADER, b"\x04\xff\xff\xff\xff\x0f"].concat()) => Refused("Invalid", "component  section is too large");
    a_count_beyond_the_file: Guest::of([HEADER, b"\x07\x05\xff\xff\xff\xff\x0f"].concat()) => Refused("Invalid", "types count exceeds limit of 1000000");
    a_custom_section_of_32_mib: with_custom_section(32 << 20) => Answers(|_| true);
    components_in_components: nested(5000) => Refused("Invalid", "components are nested too deeply in it");
    types_in_types: nested_types(100_000) => Refused("Invalid", "types are nested too deeply");
    /// Nesting at the limit of the engine's checks.
    types_in_types_as_far_as_allowed: nested_types(200) => Refused("Invalid", "types are nested too deeply in it");
    lists_of_lists: nested_lists(10_000) => Refused("Invalid", "type nesting is too deep");
    types_that_double: doubling_types(60) => Refused("Invalid", "effective type size exceeds the limit of 1000000");
    instances_that_double: doubling(40) => Refused("Invalid", "instances");
    too_many_core_instances:
        component(&format!("(component (core module $m) {})", "(core instance (instantiate $m))".repeat(65)))
        => Refused("Invalid", "instances");
    too_many_memories: gate("", &"(memory 1)".repeat(8)) => Refused("Invalid", "memories");
    several_memories_in_a_module: gate("", "(memory 1)") => Refused("Invalid", "a module in it has several memories");
    several_memories_in_a_module_one_of_them_imported:
        component(r#"(component (component (core module (import "" "m" (memory 1)) (memory 1))))"#)
        => Refused("Invalid", "a module in it has several memories");
    several_memories_in_a_module_all_of_them_imported:
        component(r#"(component (core module (import "" "m" (memory 1)) (import "" "n" (memory 1))))"#)
        => Refused("Invalid", "a module in it has several memories");
    /// Several modules may have one memory each.
    a_memory_in_each_of_several_modules: component(&format!("(component {})", "(core module (memory 1))".repeat(3)))
        => Refused("NoEvent", "handles no event");
    too_many_tables: gate("", &"(table 1 funcref)".repeat(33)) => Refused("Invalid", "tables");
    thousands_of_exports: exporting(&repeated(900, |n| format!(r#"(export "e{n}" (instance $i))"#)))
        => Refused("NoEvent", "handles no event: it exports no interface of hookbox:hooks@0.2.0");
    more_exports_than_there_can_be: exporting(&repeated(5000, |n| format!(r#"(export "e{n}" (instance $i))"#)))
        => Refused("Invalid", "instances count exceeds limit of 1000");
    thousands_of_imports:
        component(&format!("(component {})", repeated(5000, |n| format!(r#"(import "i{n}" (func))"#))))
        => Refused("Refused", "i4999");
    thousands_of_types: component(&format!("(component {})", "(type (tuple u8 u16 u32))".repeat(20_000)))
        => Refused("NoEvent", "handles no event: it exports no interface of hookbox:hooks@0.2.0");
    thousands_of_functions: gate("", &"(func (param i32) (result i32) (local.get 0))".repeat(5000)) => Answers(|_| true);
    thousands_of_locals: gate("", &format!("(func {})", "(local i64)".repeat(20_000))) => Answers(|_| true);
    more_locals_than_there_can_be: locals_beyond() => Refused("Invalid", "locals");
    a_function_of_a_million_instructions:
        gate("", &format!("(func (param i32) {})", "(drop (local.get 0))".repeat(500_000))) => Answers(|_| true);
    blocks_in_blocks: gate("", &format!("(func {}{})", "(block ".repeat(5000), ")".repeat(5000))) => Answers(|_| true);
    data_beyond_its_memory: gate("", &format!(r#"(data (i32.const 65530) "{}")"#, "x".repeat(1 << 20)))
        => Fails(Trap, "out of bounds");
    data_at_the_end_of_all_memory: gate("", r#"(data (i32.const -1) "xx")"#) => Fails(Trap, "out of bounds");
    elements_beyond_their_table: gate("", "(table 1 funcref) (func $f) (elem (i32.const 9) $f)")
        => Fails(Trap, "out of bounds");
    a_handle_of_another_type: of_another_type("(param i32) (result i32) (local.get 0)")
        => Refused("WrongType", "hookbox:hooks/pre-tool-use@0.2.0");
    an_interface_twice: exporting(&r#"(export "hookbox:hooks/stop@0.2.0" (instance $i))"#.repeat(2))
        => Refused("Invalid", "export name `hookbox:hooks/stop@0.2.0` conflicts with previous name `hookbox:hooks/stop@0.2.0`");
    an_interface_in_two_versions: of_two_versions() => Refused("WrongType", "twice");
    an_interface_of_a_later_contract: exporting(r#"(export "hookbox:hooks/stop@9.9.9" (instance $i))"#)
        => Refused("Version", "hookbox:hooks/stop@9.9.9");
    an_interface_without_a_version: exporting(r#"(export "hookbox:hooks/stop" (instance $i))"#)
        => Refused("Version", "hookbox:hooks/stop");
    an_interface_that_is_a_function: component(
        r#"(component (core module $m (func (export "f"))) (core instance $m (instantiate $m))
            (func $f (canon lift (core func $m "f"))) (export "hookbox:hooks/stop@0.2.0" (func $f)))"#)
        => Refused("WrongType", "no function `handle`");
}

/// The text format would need a line per local; the binary format has a count.
fn locals_beyond() -> Guest {
    let code = [&[1][..], &leb(9), &[1], &leb(0x7fff_ffff), &[0x7e, 0x0b]].concat();
    let code = [vec![1], leb(code.len() - 2), code[2..].to_vec()].concat();
    let module =
        [b"\0asm\x01\0\0\0".to_vec(), section(1, &[1, 0x60, 0, 0]), section(3, &[1, 0]), section(10, &code)].concat();
    Guest::of([HEADER.to_vec(), section(1, &module)].concat())
}
