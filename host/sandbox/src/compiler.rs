//! From a component's bytes to machine code.
//!
//! How long a compiler takes and how much memory it needs is not bounded by the size of what it compiles: some kilobytes
//! can take all there is. So a host that loads what it does not trust compiles in a process of its own, which can be
//! ended. That process is the `hookbox` program, or any other that calls [`serve_if_asked`].

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus, Stdio},
    thread,
};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wasmtime::{Config, WasmFeatures};

use crate::error::LoadError;

/// A program that compiles components in a process of its own.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The program: `hookbox`, of the same version as this library, by its path or its name on this process's PATH.
    pub program: PathBuf,
    /// What it may take.
    pub limits: CompileLimits,
}

/// What compiling one component may take, where it is compiled in a process of its own. The defaults are some five times
/// what the largest interpreters (`CPython`, `StarlingMonkey`) take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CompileLimits {
    /// Seconds of processor time, all cores together.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub seconds: u32,
    /// Memory, in MiB.
    #[serde(rename = "memoryMiB")]
    #[cfg_attr(feature = "schema", schemars(range(min = 64)))]
    pub memory_mib: u32,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self { seconds: 90, memory_mib: 2048 }
    }
}

/// What a program is started with to compile; seconds and MiB follow.
const COMMAND: &str = "compile-component";
/// Bytes of what it says at most.
const MAX_MESSAGE: u64 = 16 << 10;
/// The exit code that says that the component is at fault, and stderr why.
const INVALID: u8 = 65;
/// The exit code of every other failure.
const FAILED: u8 = 70;

/// What the compiler made of a component.
pub(crate) struct Image(pub(crate) Vec<u8>);

/// All that decides what machine code a component becomes.
pub(crate) fn settings() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        // What a trap says is for people; frames of somebody else's module are not.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(cfg!(windows))
        .memory_init_cow(true)
        // Of memories that begin with something here and there, an image is mostly zeros: at the default of 16 MiB each, some
        // kilobytes become hundreds of megabytes. Denser ones have their image whatever their size.
        .memory_guaranteed_dense_image_size(1 << 20);
    // What no hook needs is code that no hook can attack. Relaxed SIMD is out because its results differ by machine.
    let unneeded = WasmFeatures::THREADS
        | WasmFeatures::SHARED_EVERYTHING_THREADS
        | WasmFeatures::GC
        | WasmFeatures::FUNCTION_REFERENCES
        | WasmFeatures::EXCEPTIONS
        | WasmFeatures::MEMORY64
        | WasmFeatures::RELAXED_SIMD
        | WasmFeatures::STACK_SWITCHING
        | WasmFeatures::CUSTOM_PAGE_SIZES;
    config.wasm_features(unneeded, false);
    config
}

/// Compiles for this engine, in this process unless there is a [`Compiler`].
pub(crate) fn compile(
    engine: &wasmtime::Engine,
    compiler: Option<&Compiler>,
    bytes: &[u8],
) -> Result<Image, LoadError> {
    if let Some(compiler) = compiler {
        return compiler.compile(bytes);
    }
    let image = here(engine, bytes).map_err(LoadError::Invalid)?;
    if image.0.len() > image_limit(bytes) { Err(too_large(bytes)) } else { Ok(image) }
}

/// Bytes of an image at most. Machine code is some five times as long as what it is made of.
fn image_limit(component: &[u8]) -> usize {
    component.len().saturating_mul(64).saturating_add(32 << 20)
}

fn too_large(component: &[u8]) -> LoadError {
    LoadError::TooComplex(format!("{} MiB of machine code", image_limit(component) >> 20))
}

fn here(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Image, String> {
    engine.precompile_component(bytes).map(Image).map_err(|error| format!("{error:#}"))
}

/// A program by its path, or found by its name on the PATH.
fn on_path(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Some(program.to_owned());
    }
    let is_program =
        |file: &PathBuf| file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(is_program)
}

impl Compiler {
    fn compile(&self, bytes: &[u8]) -> Result<Image, LoadError> {
        let Self { program, limits } = self;
        let failed = |error: io::Error| self.failed(error.to_string());
        // The child's environment is empty, and without a PATH nothing is found there.
        let program = on_path(program, std::env::var_os("PATH").as_deref())
            .ok_or_else(|| self.failed("it is not on the PATH of this process".to_owned()))?;
        let mut child = Command::new(program)
            .arg(COMMAND)
            .args([limits.seconds.to_string(), limits.memory_mib.to_string()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        // It reads everything before it writes anything. If it ended before that, its status says why.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(bytes);
        }
        let (limit, mut image, mut said) = (image_limit(bytes), Vec::new(), Vec::new());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let most = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let read = thread::scope(|scope| {
            // Beside, so that neither side waits for the other with a full pipe.
            let reading = || stderr.map(|stderr| stderr.take(MAX_MESSAGE).read_to_end(&mut said));
            thread::Builder::new().spawn_scoped(scope, reading)?;
            stdout.map(|stdout| stdout.take(most(limit).saturating_add(1)).read_to_end(&mut image)).transpose()
        });
        if read.is_err() || image.len() > limit {
            let _ = child.kill();
        }
        let status = child.wait().map_err(failed)?;
        read.map_err(failed)?;
        if image.len() > limit {
            return Err(too_large(bytes));
        }
        if status.success() {
            return Ok(Image(image));
        }
        Err(self.ended(status, String::from_utf8_lossy(&said).trim()))
    }

    /// Why there is no image.
    fn ended(&self, status: ExitStatus, said: &str) -> LoadError {
        let CompileLimits { seconds, memory_mib } = self.limits;
        let by = |signal: Signal| status.signal() == Some(signal.as_raw());
        if by(Signal::XCPU) {
            LoadError::TooComplex(format!("{seconds} s of processor time"))
        } else if said.starts_with("memory allocation of") {
            LoadError::TooComplex(format!("{memory_mib} MiB of memory"))
        } else if status.code() == Some(INVALID.into()) {
            LoadError::Invalid(said.to_owned())
        } else {
            self.failed(format!("it ended with {status}: {said}"))
        }
    }

    fn failed(&self, why: String) -> LoadError {
        LoadError::Compiler { program: self.program.clone(), why }
    }
}

/// Compiles, if this process was started for that, and says what it has to end with. A program that names itself as a
/// [`Compiler::program`] begins its `main` with this.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(COMMAND) {
        return None;
    }
    let mut number = || arguments.next().and_then(|number| number.parse().ok());
    let limits = number().zip(number()).map(|(seconds, memory_mib)| CompileLimits { seconds, memory_mib });
    let served =
        limits.ok_or_else(|| io::Error::other("which limits? SECONDS and MIB")).and_then(|limits| serve(&limits));
    let (code, message) = match served {
        Ok(Ok(())) => return Some(ExitCode::SUCCESS),
        Ok(Err(invalid)) => (INVALID, invalid),
        Err(error) => (FAILED, error.to_string()),
    };
    // Whoever started this process may be gone.
    let _ = writeln!(io::stderr(), "{message}");
    Some(code.into())
}

/// A component on stdin, its image on stdout; or what is wrong with the component.
fn serve(limits: &CompileLimits) -> io::Result<Result<(), String>> {
    confine(limits)?;
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let engine = wasmtime::Engine::new(&settings()).map_err(io::Error::other)?;
    let image = match here(&engine, &bytes) {
        Ok(image) => image,
        Err(invalid) => return Ok(Err(invalid)),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(&image.0)?;
    stdout.flush()?;
    Ok(Ok(()))
}

/// Limits this process for good.
fn confine(limits: &CompileLimits) -> io::Result<()> {
    let limit = |resource, to: u64| {
        // Nobody can be given more than there is.
        let to = getrlimit(resource).maximum.map_or(to, |most| most.min(to));
        setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) })
    };
    limit(Resource::Core, 0)?;
    // What is reserved and never written does not count.
    limit(Resource::Data, u64::from(limits.memory_mib) << 20)?;
    // At the soft limit comes the signal that tells what happened, at the hard one the end.
    let most = getrlimit(Resource::Cpu).maximum.map_or(u64::MAX, |most| most.saturating_sub(1));
    let seconds = u64::from(limits.seconds).min(most);
    setrlimit(Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds + 1) })?;
    // Nobody is left to use the result.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}
