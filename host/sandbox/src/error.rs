//! Errors of loading a component.

use std::path::PathBuf;

use thiserror::Error;

use crate::permission::Grant;

/// The contract version that this host supports.
pub const CONTRACT: &str = "hookbox:hooks@0.2.0";

/// Errors of loading a component. The message says what is wrong; the remedy depends on the host.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// The file is larger than the largest supported component.
    #[error("larger than {limit_mib} MiB")]
    TooLarge {
        /// The limit in MiB.
        limit_mib: u64,
    },
    /// The component differs from the trusted one.
    #[error("{} has changed since it was trusted", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are not WebAssembly.
    #[error("not a WebAssembly file")]
    NotWasm,
    /// A core module. Compilers create one before it is converted to a component.
    #[error("a core WebAssembly module, not a component")]
    CoreModule,
    /// The component is invalid, or needs features or resources that no hook gets.
    #[error("not a usable component: {0}")]
    Invalid(String),
    /// The initial memory exceeds the limit of every hook.
    #[error("starts with {mib} MiB of memory, but hooks may have at most {limit_mib} MiB")]
    Memory {
        /// Initial memory in MiB.
        mib: u64,
        /// The largest memory limit of all hooks, in MiB.
        limit_mib: u32,
    },
    /// The compiler reached a limit. The text names the limit.
    #[error("too much to compile: it takes more than {0}")]
    TooComplex(String),
    /// Built for another version of the contract.
    #[error("made for `{found}`; this host supports {CONTRACT}")]
    Version {
        /// The interface as the component names it.
        found: String,
    },
    /// An exported event interface has the wrong type.
    #[error("`{interface}` is not of the type in the contract: {why}")]
    WrongType {
        /// The interface as the component names it.
        interface: String,
        /// The difference.
        why: String,
    },
    /// An import from `hookbox:hooks` has the wrong type.
    #[error("its imports are not those of the contract: {0}")]
    Link(String),
    /// The component handles no event.
    #[error("handles no event: it exports no interface of {CONTRACT}")]
    NoEvent,
    /// The component imports an interface that is not granted.
    #[error("needs {}, which {} not granted", Grant::list(.0), if .0.len() == 1 { "is" } else { "are" })]
    NotGranted(Vec<Grant>),
    /// The component imports an interface that no hook can be granted.
    #[error("imports interfaces that no hook can have: {}", .0.join(", "))]
    Refused(Vec<String>),
    /// A granted directory cannot be opened.
    #[error("cannot open the granted directory {}: {error}", path.display())]
    Directory {
        /// The directory on the host.
        path: PathBuf,
        /// The cause.
        error: String,
    },
    /// The compiler process failed for a reason that the component did not cause.
    #[error("cannot run {}: {why}", program.display())]
    Compiler {
        /// The program.
        program: PathBuf,
        /// The cause.
        why: String,
    },
    /// The engine could not be created.
    #[error("the WebAssembly engine failed: {0}")]
    Engine(String),
}

impl LoadError {
    pub(crate) fn wrong_type(interface: &str, why: impl Into<String>) -> Self {
        Self::WrongType { interface: interface.to_owned(), why: why.into() }
    }
}
