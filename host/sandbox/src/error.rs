//! Why a component cannot be used.

use std::path::PathBuf;

use thiserror::Error;

use crate::permission::Grant;

/// The contract this host speaks.
const CONTRACT: &str = "hookbox:hooks@0.2.0";

/// Why a component does not load. The message says what is wrong, [`LoadError::help`] what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// Larger than any component we would compile.
    #[error("larger than {limit_mib} MiB")]
    TooLarge {
        /// The limit in MiB.
        limit_mib: u64,
    },
    /// Not the component that was trusted.
    #[error("{} has changed since it was trusted", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are not WebAssembly.
    #[error("not a WebAssembly file")]
    NotWasm,
    /// A core module: what compilers make before it becomes a component.
    #[error("a core WebAssembly module, not a component")]
    CoreModule,
    /// A component that does not validate, or that needs features or room no hook gets.
    #[error("not a usable component: {0}")]
    Invalid(String),
    /// It begins with more memory than the configuration gives any hook.
    #[error("begins with {mib} MiB of memory, and no hook here may have more than {limit_mib} MiB")]
    Memory {
        /// What it begins with.
        mib: u64,
        /// The largest limit of all hooks.
        limit_mib: u32,
    },
    /// The compiler was ended before it was through.
    #[error("too much to compile: it takes more than {0}")]
    TooComplex(String),
    /// Made for another version of the contract.
    #[error("made for `{found}`; this host speaks {CONTRACT}")]
    Version {
        /// The interface as the component names it.
        found: String,
    },
    /// It exports an event's interface with another type.
    #[error("`{interface}` is not of the type in the contract: {why}")]
    WrongType {
        /// The interface as the component names it.
        interface: String,
        /// The difference.
        why: String,
    },
    /// It imports an interface of ours with another type.
    #[error("its imports are not those of the contract: {0}")]
    Link(String),
    /// It handles nothing.
    #[error("handles no event: it exports no interface of {CONTRACT}")]
    NoEvent,
    /// It imports what was not granted.
    #[error("asks for {}, which {} not granted", Grant::list(.0), if .0.len() == 1 { "is" } else { "are" })]
    NotGranted(Vec<Grant>),
    /// It imports what no hook can be granted.
    #[error("asks for what no hook can have: {}", .0.join(", "))]
    Refused(Vec<String>),
    /// A granted directory cannot be opened.
    #[error("cannot open the granted directory {}: {error}", path.display())]
    Directory {
        /// The directory on the host.
        path: PathBuf,
        /// Why not.
        error: String,
    },
    /// What compiles components could not, whatever the component.
    #[error("cannot run {}: {why}", program.display())]
    Compiler {
        /// The program.
        program: PathBuf,
        /// Why not.
        why: String,
    },
    /// The engine itself could not be set up.
    #[error("the WebAssembly engine failed: {0}")]
    Engine(String),
}

impl LoadError {
    pub(crate) fn wrong_type(interface: &str, why: impl Into<String>) -> Self {
        Self::WrongType { interface: interface.to_owned(), why: why.into() }
    }

    /// What to do about it, in one line.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "build the hook, or correct `component` in the configuration".into(),
            Self::Changed { .. } => "look at it, then trust the configuration again with `hookbox trust`".into(),
            Self::TooLarge { .. } => "build it without debug information".into(),
            Self::NotWasm => "`component` must name the .wasm file that `hookbox build` makes".into(),
            Self::CoreModule => {
                "`hookbox build` makes components; a core module becomes one with `wasm-tools component new`".into()
            }
            Self::Invalid(_) => "build it again with `hookbox build`".into(),
            Self::Memory { mib, .. } => format!(r#"to grant it, add   "limits": {{ "memoryMiB": {mib} }}"#),
            Self::TooComplex(_) => "no ordinary hook is like this; for one that is, raise `compile` in `host`".into(),
            Self::Version { .. } => format!(
                "rebuild it with the SDK of {CONTRACT} (update `hookbox-guest`, then `hookbox build` in its folder), or \
                use the hookbox it was made for"
            ),
            Self::WrongType { .. } | Self::Link(_) => {
                format!("build it against {CONTRACT}, or use the hookbox it was made for")
            }
            Self::NoEvent => "export at least one event, for example `pre-tool-use`".into(),
            Self::NotGranted(grants) => format!("to grant it, add   {}", Grant::line(grants)),
            Self::Refused(_) => {
                "build it without sockets and the like; `hookbox:hooks/http` is for requests, `state` for data".into()
            }
            Self::Directory { .. } => "create it, or take it out of `permissions`".into(),
            Self::Compiler { .. } => {
                "see that the program is there, and that the process may start others and open enough files".into()
            }
            Self::Engine(_) => "lower `maxInstances`, or raise the process's limit on address space and threads".into(),
        }
    }
}
