//! Resolves a reference to an entry of the lock.

use hookbox::{
    artifact::{Locked, Power, Reference},
    sandbox::component::{Inspection, inspect},
};

use crate::{
    client::Registry,
    pull::artifact,
    signature::{PolicyError, Provenance, Trust},
    time,
};

/// A resolved reference with its component.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resolved {
    /// The entry of the lock.
    pub locked: Locked,
    /// The component.
    pub component: Vec<u8>,
    /// The component's events, imports and origin.
    pub found: Inspection,
    /// The provenance of its build, if its publisher signed one.
    pub provenance: Option<Provenance>,
}

/// Resolves a reference: fetches and inspects the component. Its exports and imports are read from its bytes, not from its
/// publisher's metadata.
///
/// # Errors
/// [`PolicyError`]: also for bytes that are not a component of this contract.
pub async fn resolve(registry: &Registry, reference: &Reference, trust: &Trust) -> Result<Resolved, PolicyError> {
    let seen = registry.inspect(reference).await?;
    let verified = trust.verify(registry, reference, &seen).await?;
    let pulled = registry.pull_seen(reference, seen).await?;
    let found = inspect(&pulled.component).map_err(|error| artifact(reference, error.to_string()))?;
    let Power { exports, imports } = Power::of(&found);
    let version = pulled.seen.manifest.version().map(|version| hookbox::shorten(version, 80));
    let locked = Locked {
        digest: pulled.seen.component.digest.clone(),
        manifest: pulled.seen.digest.clone(),
        size: pulled.seen.component.size,
        version,
        exports,
        imports,
        attested: verified.is_some(),
        publisher: verified.as_ref().map(|verified| verified.publisher.clone()),
        source: reference.name(),
        resolved: time::now(),
        note: None,
    };
    let provenance = verified.and_then(|verified| verified.provenance);
    Ok(Resolved { locked, component: pulled.component, found, provenance })
}
