//! What a component may reach: its imports are what it asks for, the configuration is what it gets.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::{
    config::types::{LlmGrant, Permissions, StateGrant},
    error::LoadError,
};

/// Random bytes a component may draw at once.
const RANDOM_BYTES: u64 = 64 << 10;

/// Something of ours that has to be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// `hookbox:hooks/state`
    State,
    /// `hookbox:hooks/http`
    Http,
    /// `hookbox:hooks/llm`
    Llm,
}

impl Grant {
    fn of(interface: &str) -> Option<Self> {
        [Self::State, Self::Http, Self::Llm].into_iter().find(|grant| grant.word() == interface)
    }

    /// Its name in configurations and in the WIT.
    pub const fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Http => "http",
            Self::Llm => "llm",
        }
    }

    /// The value that grants it.
    const fn example(self) -> &'static str {
        match self {
            Self::State | Self::Llm => "true",
            Self::Http => r#"["https://example.com"]"#,
        }
    }

    fn is_given(self, permissions: &Permissions) -> bool {
        match self {
            Self::State => !matches!(permissions.state, None | Some(StateGrant::Enabled(false))),
            Self::Http => !permissions.http.is_empty(),
            Self::Llm => !matches!(permissions.llm, None | Some(LlmGrant::Enabled(false))),
        }
    }

    /// `state and http`
    pub(crate) fn list(grants: &[Self]) -> String {
        let words: Vec<_> = grants.iter().map(|grant| grant.word()).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// The line to add to the configuration.
    pub(crate) fn line(grants: &[Self]) -> String {
        let members: Vec<_> = grants.iter().map(|g| format!(r#""{}": {}"#, g.word(), g.example())).collect();
        format!(r#""permissions": {{ {} }}"#, members.join(", "))
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Whose an interface is, by its name.
pub(crate) enum Package<'a> {
    /// `hookbox:hooks`; `ours`: of a version this host speaks.
    Hooks { interface: &'a str, ours: bool },
    /// A part of WASI preview 2 that can be linked inert.
    Wasi,
    /// Anything else.
    Other,
}

impl<'a> Package<'a> {
    pub(crate) fn of(name: &'a str) -> Self {
        let (name, version) = name.split_once('@').unwrap_or((name, ""));
        // Semantic versioning: within 0.2 later patch releases are compatible.
        let patch_of = |minor: &str| {
            version.strip_prefix(minor).is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        };
        match name.split_once('/') {
            Some(("hookbox:hooks", interface)) => Self::Hooks { interface, ours: patch_of("0.2.") },
            Some(("wasi:cli" | "wasi:clocks" | "wasi:filesystem" | "wasi:io" | "wasi:random", _))
                if patch_of("0.2.") =>
            {
                Self::Wasi
            }
            _ => Self::Other,
        }
    }
}

/// A component's imports. `hookbox:hooks/{types,log,config,event}` are in no group: everyone has them.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// Must be granted.
    pub(crate) asks: Vec<Grant>,
    /// Linked for everyone; gives nothing without a grant.
    pub(crate) inert: Vec<String>,
    /// Never linked.
    pub(crate) refused: Vec<String>,
}

impl Imports {
    /// Sorts them by what it takes to have them.
    pub(crate) fn sort<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, LoadError> {
        let mut imports = Self::default();
        for name in names {
            match Package::of(name) {
                Package::Hooks { ours: false, .. } => return Err(LoadError::Version { found: name.to_owned() }),
                Package::Hooks { interface, .. } => imports.asks.extend(Grant::of(interface)),
                Package::Wasi => imports.inert.push(name.to_owned()),
                Package::Other => imports.refused.push(name.to_owned()),
            }
        }
        Ok(imports)
    }

    /// Whether everything asked for is granted and nothing is refused.
    pub(crate) fn check(&self, permissions: &Permissions) -> Result<(), LoadError> {
        if !self.refused.is_empty() {
            return Err(LoadError::Refused(self.refused.clone()));
        }
        let missing: Vec<_> = self.asks.iter().copied().filter(|grant| !grant.is_given(permissions)).collect();
        if missing.is_empty() { Ok(()) } else { Err(LoadError::NotGranted(missing)) }
    }
}

/// Directories and environment variables, through WASI.
#[derive(Debug)]
pub(crate) struct WasiGrants {
    directories: Vec<(PathBuf, String, FsPerms)>,
    variables: Vec<String>,
}

impl WasiGrants {
    /// Opens every directory once, so that what is missing shows when the hook is loaded.
    pub(crate) fn new(permissions: &Permissions, folder: &Path) -> Result<Self, LoadError> {
        let read = permissions.read.iter().map(|(guest, host)| (folder.join(host), guest.clone(), FsPerms::ReadOnly));
        let write =
            permissions.write.iter().map(|(guest, host)| (folder.join(host), guest.clone(), FsPerms::ReadWrite));
        let grants = Self { directories: read.chain(write).collect(), variables: permissions.env.clone() };
        grants.context()?;
        Ok(grants)
    }

    /// The context of one call; `None` when nothing is granted.
    pub(crate) fn context(&self) -> Result<Option<WasiCtx>, LoadError> {
        if self.directories.is_empty() && self.variables.is_empty() {
            return Ok(None);
        }
        let mut context = inert();
        for (host, guest, perms) in &self.directories {
            context
                .preopened_dir(host, guest, *perms)
                .map_err(|e| LoadError::Directory { path: host.clone(), error: e.root_cause().to_string() })?;
        }
        for name in &self.variables {
            if let Ok(value) = std::env::var(name) {
                context.env(name, value);
            }
        }
        Ok(Some(context.build()))
    }
}

/// No directory, no variable, no argument, closed stdio; clocks and randomness as they are.
pub(crate) fn inert() -> WasiCtxBuilder {
    let mut context = WasiCtx::builder();
    context.max_random_size(RANDOM_BYTES);
    context
}
