//! A tenant: the owner of hooks and state, and the bounds of its hooks.

use std::{collections::BTreeMap, sync::Arc};

use hookbox_sandbox::beneath::Beneath;

use crate::{
    artifact::{ComponentCache, Locked, Reference},
    capability::llm::Model,
    ceiling::Ceiling,
    config::{Config, Wasm},
};

/// The owner of a hook set and its state.
#[derive(Clone)]
#[must_use]
pub struct Tenant {
    name: String,
    /// True if the name was configured, false if it is the default.
    named: bool,
    ceiling: Option<Arc<Ceiling>>,
    model: Option<Arc<dyn Model>>,
    state_bytes: Option<u64>,
    folder: Option<Arc<Beneath>>,
    component_cache: Option<ComponentCache>,
    publishers: Option<BTreeMap<String, String>>,
}

impl Tenant {
    /// Creates a tenant. Its state is separate from that of other tenants. Without a [ceiling](Tenant::ceiling), its
    /// configuration is trusted like that of a user on their own machine.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            named: true,
            ceiling: None,
            model: None,
            state_bytes: None,
            folder: None,
            component_cache: None,
            publishers: None,
        }
    }

    /// The tenant of a configuration that may contain the operator's settings: the configured one, or else a default
    /// whose components keep separate state for this file.
    pub fn of(config: &Config) -> Self {
        Self { named: config.settings.tenant.is_some(), ..Self::new(config.tenant()) }
    }

    /// Sets bounds for every hook of the tenant. The tenant's configuration may then not set what the operator sets.
    pub fn ceiling(mut self, ceiling: Ceiling) -> Self {
        self.ceiling = Some(Arc::new(ceiling));
        self
    }

    /// Sets a language model for the tenant. It overrides the runtime's model.
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Limits the state of all the tenant's hooks together, in bytes.
    /// [`Space::tenant_bytes`](crate::capability::state::Space::tenant_bytes) defines what counts.
    pub fn state_bytes(mut self, bytes: u64) -> Self {
        self.state_bytes = Some(bytes);
        self
    }

    /// Restricts the files of the tenant's components to this folder. A component whose path or link points outside is
    /// not loaded.
    pub fn folder(mut self, folder: Arc<Beneath>) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Sets a separate folder for the tenant's components from registries.
    pub fn component_cache(mut self, component_cache: ComponentCache) -> Self {
        self.component_cache = Some(component_cache);
        self
    }

    /// Sets the publishers whose signatures were verified, by reference. Without it, the publishers in an approved lock
    /// count as verified.
    pub fn publishers(mut self, publishers: BTreeMap<String, String>) -> Self {
        self.publishers = Some(publishers);
        self
    }

    /// The tenant's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The owner of a component's state within the tenant. All configurations of a named tenant share their state.
    pub(crate) fn owner(&self, config: &Config, wasm: &Wasm) -> String {
        if self.named { wasm.owner.clone() } else { config.owner(wasm) }
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        self.state_bytes
    }

    pub(crate) fn own_folder(&self) -> Option<Arc<Beneath>> {
        self.folder.clone()
    }

    pub(crate) fn own_component_cache(&self) -> Option<ComponentCache> {
        self.component_cache.clone()
    }

    /// The publisher of a locked component, if their signature was verified.
    pub(crate) fn publisher(&self, reference: &Reference, locked: &Locked) -> Option<Arc<str>> {
        let publisher = match &self.publishers {
            Some(verified) => verified.get(&reference.to_string()),
            None => locked.publisher.as_ref().filter(|_| locked.attested),
        };
        publisher.map(|publisher| publisher.as_str().into())
    }

    pub(crate) fn bound(&self) -> Option<&Ceiling> {
        self.ceiling.as_deref()
    }

    pub(crate) fn own_model(&self) -> Option<Arc<dyn Model>> {
        self.model.clone()
    }
}

impl std::fmt::Debug for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tenant").field("name", &self.name).field("ceiling", &self.ceiling).finish_non_exhaustive()
    }
}
