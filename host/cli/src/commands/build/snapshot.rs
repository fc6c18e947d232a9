//! Takes a snapshot of a module after its start-up code, so that instances skip the start-up. Go's runtime takes longer
//! to start than most hooks take to run. A Rust hook starts with initialised allocator memory.
//!
//! The start uses fixed clocks and a fixed seed, so that builds are reproducible. Go's SDK reseeds the runtime at the
//! first call.

use anyhow::anyhow;
use wasmparser::{Parser, Payload, ValType};
use wasmtime::{Caller, Config, Engine, Extern, Func, Instance, Linker, Module, OptLevel, Store, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, Wizer};

use crate::{commands::block_on, exit::Exit, print};

/// WASI preview 1, as Go's runtime imports it.
pub const SYSTEM: &str = "wasi_snapshot_preview1";
/// The export of an SDK that runs once at build time.
const START: &str = "hookbox-start";
/// More fuel than any start needs, but used up in less than a minute.
const FUEL: u64 = 20_000_000_000;
/// EBADF of WASI preview 1.
const BAD_FILE: i32 = 8;

/// The state of a start: its clock in nanoseconds, its seed, the host function that it called, and its output.
#[derive(Default)]
struct Starting {
    now: u64,
    random: u64,
    called: Option<String>,
    printed: Vec<u8>,
}

/// The module after its SDK's start, if it has one.
pub fn prepared(module: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    for payload in Parser::new(0).parse_all(&module) {
        if let Payload::ExportSection(exports) = payload?
            && exports.into_iter().any(|export| export.is_ok_and(|export| export.name == START))
        {
            return started(&module, START);
        }
    }
    Ok(module)
}

/// The module after a call of this export. Unchanged if the start needs a host.
pub fn started(module: &[u8], start: &str) -> anyhow::Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.init_func(start);
    let (context, instrumented) = wizer.instrument(module).map_err(readable)?;

    let mut config = Config::new();
    config.consume_fuel(true).cranelift_opt_level(OptLevel::None);
    let engine = Engine::new(&config).map_err(readable)?;
    let compiled = Module::new(&engine, &instrumented).map_err(readable)?;
    let mut store = Store::new(&engine, Starting::default());
    store.set_fuel(FUEL).map_err(readable)?;
    let mut linker = Linker::new(&engine);
    // Two Go packages import the same function.
    linker.allow_shadowing(true);
    for import in compiled.imports() {
        let Some(ty) = import.ty().func().cloned() else { continue };
        let (from, name) = (import.module().to_owned(), import.name().to_owned());
        let function = Func::new(&mut store, ty, {
            let (from, name) = (from.clone(), name.clone());
            move |caller, arguments, results| {
                let result =
                    if from == SYSTEM { system(caller, &name, arguments)? } else { host(caller, &from, &name)? };
                if let Some(first) = results.first_mut() {
                    *first = Val::I32(result);
                }
                Ok(())
            }
        });
        linker.define(&store, &from, &name, function).map_err(readable)?;
    }
    let instance = linker.instantiate(&mut store, &compiled).map_err(readable)?;
    let start = instance.get_typed_func::<(), ()>(&mut store, start).map_err(readable)?;
    let ended = start.call(&mut store, ());
    let Starting { called, printed, .. } = store.data();
    for line in String::from_utf8_lossy(printed).lines() {
        print::err(line);
    }
    match (ended, called) {
        (Ok(()), _) => {}
        (Err(_), Some(called)) => {
            print::err(format_args!(
                "`func init` calls {called}, so this hook is initialised again at every call; call it in the handler instead"
            ));
            return Ok(module.to_vec());
        }
        (Err(_), None) => return Err(Exit::Software.error("the hook's `func init` fails")),
    }
    let mut state = State { store, instance };
    block_on(async { wizer.snapshot(&context, &mut state).await.map_err(readable) })
}

#[allow(clippy::needless_pass_by_value)] // so that it can be named in `map_err`
fn readable(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:#}")
}

/// A call to a capability. The start fails, because there is no host yet.
fn host(mut caller: Caller<'_, Starting>, from: &str, name: &str) -> wasmtime::Result<i32> {
    let interface = from.rsplit('/').next().unwrap_or(from);
    caller.data_mut().called = Some(format!("{}.{name}", interface.split('@').next().unwrap_or(interface)));
    Err(wasmtime::Error::msg("no host"))
}

/// The system calls that a start needs.
fn system(mut caller: Caller<'_, Starting>, name: &str, arguments: &[Val]) -> wasmtime::Result<i32> {
    let argument = |index: usize| -> usize {
        let value = arguments.get(index).and_then(Val::i32).unwrap_or_default();
        usize::try_from(value.cast_unsigned()).unwrap_or(usize::MAX)
    };
    match name {
        "clock_time_get" => {
            caller.data_mut().now += 1000;
            let now = caller.data().now;
            write(&mut caller, argument(2), &now.to_le_bytes())?;
        }
        "random_get" => {
            for index in 0..argument(1) {
                // A fixed sequence that does not repeat within a start is enough.
                let state = caller
                    .data()
                    .random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                caller.data_mut().random = state;
                let [.., byte] = state.to_le_bytes();
                write(&mut caller, argument(0).wrapping_add(index), &[byte])?;
            }
        }
        "args_sizes_get" | "environ_sizes_get" => {
            write(&mut caller, argument(0), &[0; 4])?;
            write(&mut caller, argument(1), &[0; 4])?;
        }
        "fd_write" => {
            let mut sum = 0_usize;
            for index in 0..argument(2) {
                let entry = argument(1).wrapping_add(index * 8);
                let (at, length) = (read_u32(&mut caller, entry)?, read_u32(&mut caller, entry.wrapping_add(4))?);
                let bytes = read(&mut caller, at, length)?;
                sum += bytes.len();
                caller.data_mut().printed.extend(bytes);
            }
            write(&mut caller, argument(3), &u32::try_from(sum).unwrap_or(u32::MAX).to_le_bytes())?;
        }
        "poll_oneoff" => {
            // Sleeping advances the clock of the start and does not wait.
            let until = read(&mut caller, argument(0), 48)?;
            let timeout = until.get(24..32).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
            let user = until.get(..8).unwrap_or_default().to_vec();
            let now = caller.data().now;
            caller.data_mut().now = now.saturating_add(timeout);
            write(&mut caller, argument(1), &[0; 32])?;
            write(&mut caller, argument(1), &user)?;
            write(&mut caller, argument(3), &1_u32.to_le_bytes())?;
        }
        "proc_exit" => return Err(wasmtime::Error::msg("it ended")),
        "sched_yield" | "args_get" | "environ_get" => {}
        _ if name.starts_with("hookbox_") => {}
        _ => return Ok(BAD_FILE),
    }
    Ok(0)
}

fn memory(caller: &mut Caller<'_, Starting>) -> wasmtime::Result<wasmtime::Memory> {
    caller.get_export("memory").and_then(Extern::into_memory).ok_or_else(|| wasmtime::Error::msg("no memory"))
}

fn write(caller: &mut Caller<'_, Starting>, at: usize, bytes: &[u8]) -> wasmtime::Result<()> {
    Ok(memory(caller)?.write(caller, at, bytes)?)
}

fn read(caller: &mut Caller<'_, Starting>, at: usize, length: usize) -> wasmtime::Result<Vec<u8>> {
    let memory = memory(caller)?;
    let bytes = at.checked_add(length).and_then(|end| memory.data(&*caller).get(at..end));
    bytes.map(<[u8]>::to_vec).ok_or_else(|| wasmtime::Error::msg("out of bounds"))
}

fn read_u32(caller: &mut Caller<'_, Starting>, at: usize) -> wasmtime::Result<usize> {
    let bytes = read(caller, at, 4)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// The instance from which wizer reads the snapshot.
struct State {
    store: Store<Starting>,
    instance: Instance,
}

impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        match self.instance.get_global(&mut self.store, name).map(|global| global.get(&mut self.store)) {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(Val::F64(bits)) => SnapshotVal::F64(bits),
            Some(Val::V128(bits)) => SnapshotVal::V128(bits.as_u128()),
            // wizer rejects other globals earlier.
            _ => SnapshotVal::I32(0),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        if let Some(memory) = self.instance.get_memory(&mut self.store, name) {
            contents(memory.data(&self.store));
        }
    }
}
