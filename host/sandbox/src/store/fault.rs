//! Failures of calls that gave no answer, with messages for people.

use std::{error::Error, io};

use hookbox_protocol::{Cause, Failure};
use rustix::io::Errno;
use thiserror::Error;
use wasmtime::{PoolConcurrencyLimitError, Trap, component::ResourceTableError};
use wasmtime_wasi::I32Exit;

use super::HANDLES;
use crate::run::ALL_IN_USE;

/// A limit because of which the host stopped a call.
#[derive(Debug, Error)]
pub(crate) enum LimitReached {
    /// The deadline passed.
    #[error("did not return within its timeout")]
    Timeout,
    /// Linear memory or tables exceeded their limit. The text has the details.
    #[error("{0}")]
    Memory(String),
    /// Wrote more than this many bytes to the log.
    #[error("wrote more than {} KiB to the log", .0 >> 10)]
    LogFlood(u64),
    /// Called the host more than this many times.
    #[error("called the host more than {0} times")]
    HostCalls(u64),
    /// The tenant's calls have more than this many files open.
    #[error("its tenant has {0} files and streams of files open; try again when other calls have ended")]
    Files(usize),
}

impl LimitReached {
    fn cause(&self) -> Cause {
        match self {
            Self::Timeout => Cause::Timeout,
            Self::Memory(_) => Cause::OutOfMemory,
            Self::LogFlood(_) => Cause::LogFlood,
            Self::HostCalls(_) => Cause::TooManyHostCalls,
            Self::Files(_) => Cause::Busy,
        }
    }
}

impl From<LimitReached> for Failure {
    fn from(stop: LimitReached) -> Self {
        Self::new(stop.cause(), stop.to_string())
    }
}

/// Failure because of a limit of the process or the machine, which the component did not cause.
pub(crate) fn refused(why: &dyn Error) -> Failure {
    let message = format!("the system refused what it needs ({why}); try again, or raise the process's limits");
    Failure::new(Cause::Busy, message)
}

/// Converts an engine error into a failure. `fuel` and `output_kib` are the call's limits.
pub(crate) fn failure(error: &wasmtime::Error, fuel: u64, output_kib: u32) -> Failure {
    if let Some(stop) = error.downcast_ref::<LimitReached>() {
        return Failure::new(stop.cause(), stop.to_string());
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return trapped(*trap, fuel);
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return Failure::new(Cause::Busy, ALL_IN_USE);
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return Failure::new(Cause::Trap, format!("ended itself with exit code {}", exit.0));
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref::<ResourceTableError>() {
        let message = format!("held more than {HANDLES} streams, timers or files at once");
        return Failure::new(Cause::OutOfMemory, message);
    }
    let root = error.root_cause();
    if root.is::<io::Error>() || root.is::<Errno>() {
        return refused(root);
    }
    let root = root.to_string();
    // The engine's type for this error is private. A test checks that its text is still the same.
    if root.contains("fuel allocated for hostcalls") {
        return Failure::new(
            Cause::OutputTooLarge,
            format!("passed more text to the host than the limit of {output_kib} KiB"),
        );
    }
    // This type is private, too. A pooling engine refuses such a component when it is loaded.
    if let Some(too_many) = root.strip_prefix("resource limit exceeded: ") {
        return Failure::new(Cause::OutOfMemory, format!("has too many parts: {too_many}"));
    }
    Failure::new(Cause::Trap, format!("passed malformed data to the host: {root}"))
}

fn trapped(trap: Trap, fuel: u64) -> Failure {
    let (cause, message) = match trap {
        Trap::OutOfFuel => (Cause::OutOfFuel, format!("used up its {fuel} units of fuel")),
        Trap::StackOverflow => (Cause::StackOverflow, "its stack overflowed: the recursion is too deep".to_owned()),
        Trap::Interrupt => return LimitReached::Timeout.into(),
        Trap::AllocationTooLarge => (Cause::OutOfMemory, "requested more memory than is possible".to_owned()),
        Trap::UnreachableCodeReached => {
            (Cause::Trap, "gave up (`unreachable`): a panic, or a failed assertion".to_owned())
        }
        other => {
            let text = other.to_string();
            (Cause::Trap, text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned())
        }
    };
    Failure::new(cause, message)
}
