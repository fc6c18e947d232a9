//! Registries that tenants may take hooks from.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hookbox::artifact::Revoked;
use hookbox_registry::{HostOptions, PolicyError, Publisher, Publishers, Trust};
use serde::Deserialize;

/// Registries that tenants may take hooks from.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Registries {
    /// The hosts, and the terms of each. No other host is reached.
    pub hosts: BTreeMap<String, HostOptions>,
    /// The folder of components, with a folder of each tenant in it. Default: in the user's cache folder.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Components that one tenant keeps, in MiB.
    #[serde(default = "tenant_mib", rename = "tenantMiB")]
    pub tenant_mib: u32,
    /// The largest component, in MiB.
    #[serde(default = "component_mib", rename = "componentMiB")]
    pub component_mib: u32,
    /// Components that are fetched concurrently, of all tenants together.
    #[serde(default = "concurrency")]
    pub concurrency: u32,
    /// Policies of publishers. Tenants cannot say less.
    #[serde(default)]
    pub publishers: Vec<Publisher>,
    /// Digests and publishers whose components do not run, although they are signed and locked.
    #[serde(default)]
    pub revoked: Revoked,
}

const fn tenant_mib() -> u32 {
    256
}
const fn component_mib() -> u32 {
    64
}
const fn concurrency() -> u32 {
    4
}

impl Registries {
    /// The signature policies for every component. Files of keys are relative to `folder`.
    ///
    /// # Errors
    /// A policy that cannot be used.
    pub fn trust(&self, folder: &Path) -> Result<Trust, PolicyError> {
        let policies = self.publishers.iter().map(|publisher| publisher.policy(folder)).collect::<Result<_, _>>()?;
        Ok(Trust { publishers: Publishers::new(policies), revoked: self.revoked.clone() })
    }
}
