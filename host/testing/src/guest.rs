//! Guests that no compiler would produce: core modules written by hand, encoded with `wit/`.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::{Dialect, Event, Failure, HookOutput, dialect};
use hookbox_sandbox::{
    CallContext, Component, Engine, EngineOptions, Limits, LoadError, Permissions, Run, capability::Capabilities,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Returns a component that takes longer to compile than any client waits.
pub fn bomb() -> Vec<u8> {
    let many = |what: &str| format!("({what} {})", "i32 ".repeat(1000));
    let (zeroes, drops) = ("i32.const 0 ".repeat(1000), "drop ".repeat(1000));
    let (blocks, ends) = ("block (type $many) ".repeat(5000), "end ".repeat(5000));
    let module =
        format!("(type $many (func {} {})) (func {zeroes} {blocks} {ends} {drops})", many("param"), many("result"));
    wat::parse_str(format!("(component (core module {module}))")).unwrap()
}

/// A world that handles `PreToolUse` and imports nothing.
pub const GATE: &str = "export hookbox:hooks/pre-tool-use@0.2.0;";

/// The parts of WASI that handle files, as packages for [`encode`].
pub const FILES: &str = "
    package wasi:cli@0.2.3 {
        interface environment {
            get-environment: func() -> list<tuple<string, string>>;
            get-arguments: func() -> list<string>;
        }
    }
    package wasi:filesystem@0.2.3 {
        interface types {
            enum error-code {
                access, would-block, already, bad-descriptor, busy, deadlock, quota, exist, file-too-large,
                illegal-byte-sequence, in-progress, interrupted, invalid, io, is-directory, loop, too-many-links,
                message-size, name-too-long, no-device, no-entry, no-lock, insufficient-memory, insufficient-space,
                not-directory, not-empty, not-recoverable, unsupported, no-tty, no-such-device, overflow, not-permitted,
                pipe, read-only, invalid-seek, text-file-busy, cross-device
            }
            flags path-flags { symlink-follow }
            flags open-flags { create, directory, exclusive, truncate }
            flags descriptor-flags {
                read, write, file-integrity-sync, data-integrity-sync, requested-write-sync, mutate-directory
            }
            resource descriptor {
                open-at: func(path-flags: path-flags, path: string, open-flags: open-flags, %flags: descriptor-flags)
                    -> result<descriptor, error-code>;
                read: func(length: u64, offset: u64) -> result<tuple<list<u8>, bool>, error-code>;
                unlink-file-at: func(path: string) -> result<_, error-code>;
                symlink-at: func(old-path: string, new-path: string) -> result<_, error-code>;
                link-at: func(old-path-flags: path-flags, old-path: string, new-descriptor: borrow<descriptor>,
                    new-path: string) -> result<_, error-code>;
            }
        }
        interface preopens {
            use types.{descriptor};
            get-directories: func() -> list<tuple<descriptor, string>>;
        }
    }";

/// Imports of functions in [`FILES`], for the items of a [`gate`].
pub const DIRECTORY: &str = r#"
    (import "wasi:filesystem/preopens@0.2.3" "get-directories" (func $directories (param i32)))
    (import "wasi:filesystem/types@0.2.3" "[method]descriptor.open-at"
        (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.3" "[method]descriptor.read" (func $read (param i32 i64 i64 i32)))
    (import "wasi:filesystem/types@0.2.3" "[method]descriptor.unlink-file-at" (func $unlink (param i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.3" "[method]descriptor.symlink-at"
        (func $symlink (param i32 i32 i32 i32 i32 i32)))"#;

/// Encodes a core module. `world` has its imports and exports, `packages` has nested WIT packages besides `wit/`.
pub fn encode(module: &str, world: &str, packages: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")).unwrap();
    let wit = format!("package test:guest; world guest {{ {world} }} {packages}");
    let package = resolve.push_str("guest.wit", &wit).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    let mut module = wat::parse_str(module).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().validate(true).module(&module).unwrap().encode().unwrap()
}

/// Returns a core module whose `handle` of `PreToolUse` has this body. Address 0 has an empty result, and `$say` adds
/// texts to it. `items` are further fields of the module. Memory from 4096 on is free for text.
pub fn gate(body: &str, items: &str) -> String {
    format!(
        r#"(module
            {items}
            (memory (export "memory") 1)
            (global $free (mut i32) (i32.const 16384))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
                (global.set $free (i32.add (local.get $at) (local.get 3)))
                (local.get $at))
            ;; a discriminant, and a text behind it
            (func $say (param $discriminant i32) (param $text i32) (param $pointer i32) (param $length i32)
                (i32.store8 (local.get $discriminant) (i32.const 1))
                (i32.store8 (local.get $text) (i32.const 1))
                (i32.store offset=4 (local.get $text) (local.get $pointer))
                (i32.store offset=8 (local.get $text) (local.get $length)))
            (func (export "hookbox:hooks/pre-tool-use@0.2.0#handle") (param i32) (result i32) {body} (i32.const 0)))"#
    )
}

/// Loads a component that handles `PreToolUse` with this body.
pub fn load_gate(body: &str, items: &str) -> Component {
    load(&encode(&gate(body, items), GATE, "")).unwrap()
}

pub fn load(bytes: &[u8]) -> Result<Component, LoadError> {
    Component::new(&engine(), bytes, &Permissions::default(), Path::new("."))
}

pub fn engine() -> Engine {
    Engine::new(EngineOptions::default()).unwrap()
}

pub fn claude() -> &'static dyn Dialect {
    dialect::by_name("claude").unwrap()
}

pub fn event() -> Event {
    let wire = br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    claude().decode_event(wire, None).unwrap()
}

pub fn context(limits: Limits, timeout: Duration) -> CallContext {
    CallContext {
        tenant: "default".into(),
        hook: "guest".into(),
        session: None,
        config_json: r#"{"pattern":"rm"}"#.into(),
        limits,
        deadline: Instant::now() + timeout,
        capabilities: Arc::new(Capabilities::default()),
    }
}

/// Makes one call with these limits and a timeout of 10 s.
pub async fn call(component: &Component, limits: Limits) -> Run {
    component.call(&event(), claude(), context(limits, Duration::from_secs(10))).await
}

/// Returns the output of a `PreToolUse` guest with this body.
pub async fn output(body: &str, items: &str) -> HookOutput {
    *call(&load_gate(body, items), Limits::default()).await.result.unwrap()
}

/// Returns the failure of a `PreToolUse` guest with this body.
pub async fn failure(body: &str, items: &str) -> Failure {
    call(&load_gate(body, items), Limits::default()).await.result.unwrap_err()
}
