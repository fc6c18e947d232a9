//! Components that exhaust their compiler: a few kilobytes take minutes or all memory. `hookbox` compiles in a separate
//! process, so that only this process ends.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::{
    path::{Path, PathBuf},
    pin::pin,
    process::Command,
    time::Duration,
};

use hookbox_sandbox::{CompileLimits, Compiler, Component, Engine, EngineOptions, LoadError, Permissions};
use hookbox_testing::process::fed;
use tokio::time::timeout;

const HOOKBOX: &str = env!("CARGO_BIN_EXE_hookbox");
/// Low limits, so that the tests are fast. An ordinary hook takes a tenth of them.
const LIMITS: CompileLimits = CompileLimits { seconds: 2, memory_mib: 256 };

/// Makes a component with this core module.
fn component(module: &str) -> Vec<u8> {
    wat::parse_str(format!("(component (core module {module}))")).unwrap()
}

/// Writes this number of parameters, results or variables.
fn many(kind: &str, times: usize) -> String {
    format!("({kind}{})", " i32".repeat(times))
}

/// Each block passes a thousand values to the next one.
fn values_through_blocks() -> Vec<u8> {
    component(&format!(
        "(type $many (func {} {})) (func {} {} {} {})",
        many("param", 1000),
        many("result", 1000),
        "i32.const 0 ".repeat(1000),
        "block (type $many) ".repeat(5000),
        "end ".repeat(5000),
        "drop ".repeat(1000)
    ))
}

/// Each loop might change each variable.
fn variables_through_loops() -> Vec<u8> {
    let reads: Vec<_> = (0..20_000).map(|n| format!("local.get {n} drop ")).collect();
    component(&format!(
        "(func {} {}{}{})",
        many("local", 20_000),
        "loop ".repeat(3000),
        reads.concat(),
        "end ".repeat(3000)
    ))
}

/// Each call passes two hundred values.
fn values_through_calls() -> Vec<u8> {
    component(&format!(
        "(func $f {} {} unreachable) (func {} {} {})",
        many("param", 100),
        many("result", 100),
        "i32.const 0 ".repeat(100),
        "call $f ".repeat(20_000),
        "drop ".repeat(100)
    ))
}

fn ifs_in_ifs() -> Vec<u8> {
    component(&format!("(func (local i32) {} {})", "local.get 0 if ".repeat(100_000), "end ".repeat(100_000)))
}

fn functions() -> Vec<u8> {
    component(&"(func)".repeat(200_000))
}

fn honest() -> Vec<u8> {
    let world = "(component (core module $m (func (export \"f\"))) (core instance (instantiate $m)))";
    wat::parse_str(world).unwrap()
}

fn engine() -> Engine {
    engine_of(HOOKBOX, LIMITS, None)
}

fn engine_of(program: &str, limits: CompileLimits, cache_dir: Option<PathBuf>) -> Engine {
    let compiler = Some(Compiler { program: program.into(), limits });
    Engine::new(EngineOptions { compiler, cache_dir, ..EngineOptions::default() }).unwrap()
}

fn load(engine: &Engine, bytes: &[u8]) -> LoadError {
    Component::new(engine, bytes, &Permissions::default(), Path::new(".")).unwrap_err()
}

/// Asserts that the bomb is refused, and that the engine still loads ordinary components.
fn defused(bomb: &[u8]) {
    let engine = engine();
    let error = load(&engine, bomb);
    assert!(matches!(error, LoadError::TooComplex(_)), "{error}");
    let text = error.to_string();
    assert!(text.ends_with("2 s of processor time") || text.ends_with("256 MiB of memory"), "{text}");
    assert!(matches!(load(&engine, &honest()), LoadError::NoEvent), "it was compiled");
}

macro_rules! bombs {
    ($($name:ident)*) => { mod bombs { $(#[test] fn $name() { super::defused(&super::$name()); })* } };
}
bombs! { values_through_blocks variables_through_loops values_through_calls ifs_in_ifs functions }

#[test]
fn the_compiler_process_reports_errors() {
    let error = load(&engine(), &component("(func (result i32) i64.const 0)"));
    assert!(matches!(&error, LoadError::Invalid(why) if why.contains("type mismatch")), "{error}");
}

#[test]
fn a_missing_compiler_is_named() {
    let engine = engine_of("/nowhere/hookbox", LIMITS, None);
    assert!(load(&engine, &honest()).to_string().contains("cannot run /nowhere/hookbox"));
}

/// A process with one thread must still answer when its client's timeout ends.
#[tokio::test]
async fn compiling_does_not_delay_other_calls() {
    let engine = engine_of(HOOKBOX, CompileLimits { memory_mib: 2048, ..LIMITS }, None);
    let (bomb, nothing, soon) = (values_through_blocks(), Permissions::default(), Duration::from_millis(50));
    let load = || Component::from_bytes(&engine, bomb.clone(), &nothing, Path::new("."));
    let mut first = pin!(load());
    assert!(timeout(soon, &mut first).await.is_err());
    assert!(timeout(soon, load()).await.is_err());
    assert!(timeout(Duration::ZERO, &mut first).await.is_err(), "the second waited until it was done");
    assert!(matches!(first.await, Err(LoadError::TooComplex(_))));
}

/// A bomb is not compiled again, because a client does not wait that long for every event. Other limits cause a new attempt.
#[test]
fn a_bomb_is_remembered() {
    let cache = tempfile::tempdir().unwrap();
    std::fs::set_permissions(cache.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let engine = |program, limits| engine_of(program, limits, Some(cache.path().into()));
    let first = load(&engine(HOOKBOX, LIMITS), &values_through_blocks()).to_string();
    let second = load(&engine("/nowhere/hookbox", LIMITS), &values_through_blocks()).to_string();
    assert!(first.starts_with("too much to compile"), "{first}");
    assert_eq!(second, first);
    let raised = CompileLimits { memory_mib: 300, ..LIMITS };
    let third = load(&engine("/nowhere/hookbox", raised), &values_through_blocks()).to_string();
    assert!(third.contains("cannot run /nowhere/hookbox"), "{third}");
}

/// A memory with single bytes of data, far apart. With 16 MiB of image each, 5 KB used to become 800 MiB of cache.
fn sparse_memories(count: usize) -> Vec<u8> {
    let module = "(core module (memory 250) (data (i32.const 0) \"a\") (data (i32.const 16000000) \"b\"))";
    wat::parse_str(format!("(component {})", module.repeat(count))).unwrap()
}

fn private_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    folder
}

#[test]
fn sparse_memories_make_no_large_image() {
    let cache = private_folder();
    let engine = engine_of(HOOKBOX, LIMITS, Some(cache.path().into()));
    // The component handles no event, which is only known after compilation.
    assert!(load(&engine, &sparse_memories(8)).to_string().starts_with("handles no event"));
    let sizes = std::fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    let bytes: u64 = sizes.sum();
    assert!(bytes < 16 << 20, "{bytes} bytes for {} of a component", sparse_memories(8).len());
}

/// Checked before compilation: this engine has no compiler at all.
#[test]
fn components_larger_than_the_pool_are_not_compiled() {
    let engine = engine_of("/nowhere/hookbox", LIMITS, None);
    assert!(load(&engine, &sparse_memories(9)).to_string().contains("too many memories"));
    let tables = format!("(component (core module {}))", "(table 1 funcref)".repeat(33));
    assert!(load(&engine, &wat::parse_str(tables).unwrap()).to_string().contains("too many tables"));
    // Each memory fits into the pool, but not all of them together.
    let large = format!("(component {})", "(core module (memory 5000))".repeat(8));
    assert!(matches!(load(&engine, &wat::parse_str(large).unwrap()), LoadError::Memory { mib: 2500, .. }));
}

/// Components that the pool refuses after compilation, and files that are not components, are not compiled again for
/// every event.
#[test]
fn failed_loads_are_remembered() {
    let cache = private_folder();
    let instances = "(core instance (instantiate $m))".repeat(65);
    let crowded = wat::parse_str(format!("(component (core module $m) {instances})")).unwrap();
    let mut invalid = honest();
    invalid.extend(*b"\x01\x05\xff\xff\xff\xff\xff");
    for bytes in [crowded, invalid] {
        let first = load(&engine_of(HOOKBOX, LIMITS, Some(cache.path().into())), &bytes).to_string();
        let second = load(&engine_of("/nowhere/hookbox", LIMITS, Some(cache.path().into())), &bytes).to_string();
        assert!(first.starts_with("not a usable component"), "{first}");
        assert_eq!(second, first);
    }
}

/// With `failClosed`, a hook that is a bomb blocks.
#[test]
fn a_bomb_in_a_configuration_blocks_where_failures_do() {
    let folder = tempfile::tempdir().unwrap();
    let config = r#"{ "failClosed": true, "host": { "compile": { "seconds": 2, "memoryMiB": 256 } },
        "hooks": { "PreToolUse": [{ "hooks": [{ "type": "wasm", "component": "bomb.wasm" }] }] } }"#;
    std::fs::write(folder.path().join("hooks.json"), config).unwrap();
    std::fs::write(folder.path().join("bomb.wasm"), values_through_blocks()).unwrap();
    let mut run = Command::new(HOOKBOX);
    run.args(["run", "--config", "hooks.json"]).current_dir(folder.path()).env("XDG_CACHE_HOME", folder.path());
    let output = fed(&mut run, br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("too much to compile: it takes more than"), "{stderr}");
}
