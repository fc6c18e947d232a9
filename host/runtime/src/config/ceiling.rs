//! The configuration form of a [`Ceiling`].

use hookbox_sandbox::{Limits, Permissions};
use serde::Deserialize;

use super::{file::AuthorityEntry, resolve::authority::no_variable};
use crate::ceiling::Ceiling;

/// A ceiling in a file. Missing members default to those of [`Ceiling::new`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CeilingEntry {
    authority: Option<AuthorityEntry>,
    #[serde(default)]
    permissions: Permissions,
    #[serde(default)]
    limits: Limits,
}

impl TryFrom<CeilingEntry> for Ceiling {
    type Error = String;

    fn try_from(CeilingEntry { authority, permissions, limits }: CeilingEntry) -> Result<Self, String> {
        if let Some((_, name)) = authority.iter().flat_map(AuthorityEntry::invalid_variables).next() {
            return Err(no_variable(name));
        }
        let ceiling = Self::new().permissions(permissions).limits(limits);
        Ok(match authority {
            Some(entry) => ceiling.authority(entry.into()),
            None => ceiling,
        })
    }
}
