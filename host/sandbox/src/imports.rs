//! Imports of a component. They show what the component needs; the configuration decides what it gets.

use hookbox_protocol::EventKind;

use crate::{
    error::LoadError,
    permission::{Grant, Permissions},
};

/// The package that an interface name belongs to.
pub(crate) enum Package<'a> {
    /// `hookbox:hooks`; `ours` is true for a version that this host supports.
    Hooks { interface: &'a str, ours: bool },
    /// A part of WASI preview 2 that can be linked inert.
    Wasi,
    /// Anything else.
    Other,
}

impl<'a> Package<'a> {
    pub(crate) fn of(name: &'a str) -> Self {
        let (name, version) = name.split_once('@').unwrap_or((name, ""));
        // Semantic versioning: later patch releases of 0.2 are compatible.
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

/// A component's imports. `hookbox:hooks/{types,log,config,event}` are in no group, because every hook may use them.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// Imports that must be granted.
    pub(crate) asks: Vec<Grant>,
    /// Imports that are linked for every hook and give nothing without a grant.
    pub(crate) inert: Vec<String>,
    /// True if the component imports functions of `hookbox:hooks`.
    pub(crate) ours: bool,
    /// Imports that are never linked.
    pub(crate) refused: Vec<String>,
}

impl Imports {
    /// Sorts imports by the kind of grant that they need.
    pub(crate) fn sort<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, LoadError> {
        let mut imports = Self::default();
        for name in names {
            match Package::of(name) {
                Package::Hooks { ours: false, .. } => return Err(LoadError::Version { found: name.to_owned() }),
                Package::Hooks { interface, .. } => {
                    imports.asks.extend(Grant::of(interface));
                    imports.ours |= interface != "types";
                }
                Package::Wasi => imports.inert.push(name.to_owned()),
                Package::Other => imports.refused.push(name.to_owned()),
            }
        }
        Ok(imports)
    }

    /// Returns an error if the component imports an interface that no hook can have.
    pub(crate) fn check_refused(&self) -> Result<(), LoadError> {
        if self.refused.is_empty() { Ok(()) } else { Err(LoadError::Refused(self.refused.clone())) }
    }

    /// Returns an error if an import is not granted.
    pub(crate) fn check_granted(&self, permissions: &Permissions) -> Result<(), LoadError> {
        let missing: Vec<_> = self.asks.iter().copied().filter(|grant| !grant.is_given(permissions)).collect();
        if missing.is_empty() { Ok(()) } else { Err(LoadError::NotGranted(missing)) }
    }
}

/// Returns the event that an exported interface handles, or `None` for other exports.
pub(crate) fn handled(export: &str) -> Result<Option<EventKind>, LoadError> {
    match Package::of(export) {
        Package::Hooks { interface, ours: true } => {
            Ok(EventKind::ALL.iter().copied().find(|k| k.interface() == interface))
        }
        Package::Hooks { ours: false, .. } => Err(LoadError::Version { found: export.to_owned() }),
        Package::Wasi | Package::Other => Ok(None),
    }
}
