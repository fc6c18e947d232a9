//! A [`Ceiling`] as a file has it.

use hookbox_sandbox::{Limits, Permissions};
use serde::Deserialize;

use super::file::AuthorityEntry;
use crate::ceiling::Ceiling;

/// What is not given is as in [`Ceiling::new`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CeilingEntry {
    authority: Option<AuthorityEntry>,
    #[serde(default)]
    permissions: Permissions,
    #[serde(default)]
    limits: Limits,
}

impl From<CeilingEntry> for Ceiling {
    fn from(CeilingEntry { authority, permissions, limits }: CeilingEntry) -> Self {
        let ceiling = Self::new().permissions(permissions).limits(limits);
        match authority {
            Some(entry) => ceiling.authority(entry.into()),
            None => ceiling,
        }
    }
}
