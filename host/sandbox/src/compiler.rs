//! Compilation of components to machine code.
//!
//! The time and memory that a compiler needs are not bounded by the size of its input: a few kilobytes can exhaust the
//! machine. So a host that loads untrusted components compiles in a separate process that it can kill. That process is
//! the `hookbox` program, or any program that calls [`serve_if_asked`].

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

/// A program that compiles components in a separate process.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The program: `hookbox` of the same version as this library, by its path or its name on this process's PATH.
    pub program: PathBuf,
    /// Limits of the process.
    pub limits: CompileLimits,
}

/// Limits of the process that compiles one component. The defaults are about five times what the largest interpreters
/// (`CPython`, `StarlingMonkey`) need.
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

/// First argument that starts a program as a compiler. The limits in seconds and MiB follow.
const COMMAND: &str = "compile-component";
/// Maximum size of the compiler's error message in bytes.
const MAX_MESSAGE: u64 = 16 << 10;
/// Exit code for an invalid component. The reason is on stderr.
const INVALID: u8 = 65;
/// Exit code for every other failure.
const FAILED: u8 = 70;

/// Machine code of a component.
pub(crate) struct Image(pub(crate) Vec<u8>);

/// Settings that determine the machine code of a component.
pub(crate) fn settings() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        // A trap's message is for people, and frames of another author's module do not help them.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(cfg!(windows))
        .memory_init_cow(true)
        // Images of sparse memories are mostly zeros. At the default of 16 MiB each, a few kilobytes of component
        // become hundreds of megabytes. Dense memories have an image at any size.
        .memory_guaranteed_dense_image_size(1 << 20);
    // Unneeded features are disabled to reduce the attack surface. Relaxed SIMD is disabled because its results differ
    // by machine.
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

/// Compiles a component for this engine: with the [`Compiler`] if there is one, and otherwise in this process.
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

/// Maximum size of an image in bytes. Machine code is about five times as large as its component.
fn image_limit(component: &[u8]) -> usize {
    component.len().saturating_mul(64).saturating_add(32 << 20)
}

fn too_large(component: &[u8]) -> LoadError {
    LoadError::TooComplex(format!("{} MiB of machine code", image_limit(component) >> 20))
}

fn here(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Image, String> {
    engine.precompile_component(bytes).map(Image).map_err(|error| format!("{error:#}"))
}

/// Returns a program by its path, or finds it by its name on the PATH.
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
        // Search here, because the child's environment is empty and has no PATH.
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
        // The child reads everything before it writes. If it ended earlier, its exit status says why.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(bytes);
        }
        let (limit, mut image, mut message) = (image_limit(bytes), Vec::new(), Vec::new());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let maximum = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let read = thread::scope(|scope| {
            // Read stderr on another thread, so that no full pipe blocks both sides.
            let reading = || stderr.map(|stderr| stderr.take(MAX_MESSAGE).read_to_end(&mut message));
            thread::Builder::new().spawn_scoped(scope, reading)?;
            stdout.map(|stdout| stdout.take(maximum(limit).saturating_add(1)).read_to_end(&mut image)).transpose()
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
        Err(self.ended(status, String::from_utf8_lossy(&message).trim()))
    }

    /// Returns the error for a compiler that ended without an image.
    fn ended(&self, status: ExitStatus, message: &str) -> LoadError {
        let CompileLimits { seconds, memory_mib } = self.limits;
        let by = |signal: Signal| status.signal() == Some(signal.as_raw());
        if by(Signal::XCPU) {
            LoadError::TooComplex(format!("{seconds} s of processor time"))
        } else if message.starts_with("memory allocation of") {
            LoadError::TooComplex(format!("{memory_mib} MiB of memory"))
        } else if status.code() == Some(INVALID.into()) {
            LoadError::Invalid(message.to_owned())
        } else {
            self.failed(format!("it ended with {status}: {message}"))
        }
    }

    fn failed(&self, why: String) -> LoadError {
        LoadError::Compiler { program: self.program.clone(), why }
    }
}

/// Compiles if this process was started as a compiler, and returns its exit code. A program that names itself as
/// [`Compiler::program`] calls this first in `main`.
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
    // The parent process may be gone.
    let _ = writeln!(io::stderr(), "{message}");
    Some(code.into())
}

/// Compiles the component on stdin and writes its image to stdout. Returns the reason if the component is invalid.
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

/// Sets permanent limits for this process.
fn confine(limits: &CompileLimits) -> io::Result<()> {
    let limit = |resource, to: u64| {
        // A limit above the hard limit cannot be set.
        let to = getrlimit(resource).maximum.map_or(to, |maximum| maximum.min(to));
        setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) })
    };
    limit(Resource::Core, 0)?;
    // This limit does not count memory that is reserved and never written.
    limit(Resource::Data, u64::from(limits.memory_mib) << 20)?;
    // The soft limit sends SIGXCPU, from which the parent sees the cause. The hard limit kills the process.
    let maximum = getrlimit(Resource::Cpu).maximum.map_or(u64::MAX, |maximum| maximum.saturating_sub(1));
    let seconds = u64::from(limits.seconds).min(maximum);
    setrlimit(Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds + 1) })?;
    // End with the parent, because only the parent uses the result.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}
