//! A hook that `hookbox add` writes to a configuration: a bundled one, or a component of a registry.

use std::collections::BTreeSet;

use hookbox::{
    Dialect, EventKind,
    artifact::{Reference, SCHEME},
    config::{Config, Handler},
    dialect::{self, ConfigShape},
};
use hookbox_catalogue::{Bundled, PREFIX};
use hookbox_registry::resolve;
use serde_json::{Map, Value, json};

use super::{super::block_on, bundled};
use crate::{locks, print, registries};

/// The hook that a command line names.
#[derive(Debug, Clone)]
pub enum HookArgument {
    Bundled(&'static Bundled),
    Reference(Reference),
}

/// A hook and what its entries say.
pub struct Hook {
    /// The name for a dialect whose hooks have one.
    name: String,
    /// The value of `component`.
    pub component: String,
    authority: Option<Value>,
    events: Vec<EventKind>,
    /// The interfaces that it asks for. Granting them is up to the user.
    pub asks: BTreeSet<String>,
}

impl HookArgument {
    /// Parses the name of a bundled hook, or a reference.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with(SCHEME) {
            return Reference::parse(text).map(Self::Reference).map_err(|error| error.to_string());
        }
        bundled(text).map(Self::Bundled)
    }

    /// The hook. A reference is resolved, and what its component handles and asks for is printed.
    pub fn hook(&self) -> anyhow::Result<Hook> {
        let reference = match self {
            Self::Bundled(bundled) => return Hook::bundled(bundled),
            Self::Reference(reference) => reference,
        };
        let (registry, trust) = registries::named(reference)?;
        let resolved = block_on(async { resolve(&registry, reference, &trust).await.map_err(registries::refused) })?;
        locks::show(reference, &resolved.locked, true);
        Ok(Hook {
            name: reference.short_name().to_owned(),
            component: reference.to_string(),
            authority: None,
            events: resolved.found.handles,
            asks: resolved.locked.imports,
        })
    }
}

impl Hook {
    /// A bundled hook, with the authority that it needs.
    pub fn bundled(bundled: &Bundled) -> anyhow::Result<Self> {
        let claude = dialect::by_name("claude");
        let kind = |event: &str| claude.and_then(|claude| claude.spec_by_name(event)).map(|spec| spec.kind);
        Ok(Self {
            name: bundled.name.to_owned(),
            component: format!("{PREFIX}{}", bundled.name),
            authority: Some(serde_json::from_str(bundled.authority)?),
            events: bundled.events.iter().filter_map(|(event, _)| kind(event)).collect(),
            asks: BTreeSet::new(),
        })
    }

    /// The name in messages.
    pub fn shown(&self) -> String {
        print::name(&self.component)
    }

    /// Returns true if the hook runs for some event of a configuration.
    pub fn is_in(&self, config: &Config) -> bool {
        let is_bundled = config.hooks.iter().any(
            |hook| matches!(&hook.handler, Handler::Wasm(wasm) if wasm.is_bundled() && wasm.name == self.component),
        );
        is_bundled || config.references.iter().any(|reference| reference.to_string() == self.component)
    }

    /// The entries of the hook under a dialect, each with the event or the name under which it stands.
    pub fn entries(&self, dialect: &dyn Dialect, monitor: bool) -> Vec<(String, Value)> {
        let entry = |gate: bool| {
            let mut entry =
                Map::from_iter([("type".to_owned(), json!("wasm")), ("component".to_owned(), json!(self.component))]);
            if let Some(authority) = &self.authority {
                entry.insert("authority".into(), authority.clone());
            }
            if gate {
                entry.insert("onFailure".into(), "block".into());
            }
            if monitor {
                entry.insert("mode".into(), "monitor".into());
            }
            entry
        };
        // A failure of a gate blocks. The author of a bundled hook says that of all its events.
        let gates = |kind: EventKind| {
            self.authority.is_some() || matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest)
        };
        let named = dialect.shape() == ConfigShape::Named;
        // picoclaw's notifications cannot be intercepted, and no entry asks for events without an interface.
        let has_entry = |kind: &&EventKind| !named || !matches!(kind, EventKind::AgentEvent | EventKind::OtherEvent);
        let specs = self.events.iter().filter(has_entry);
        let specs = specs.filter_map(|kind| dialect.specs().iter().find(|spec| spec.kind == *kind));
        let specs: Vec<(&str, bool)> = specs.map(|spec| (spec.name, gates(spec.kind))).collect();
        if named {
            let asked: Vec<&str> = specs.iter().map(|(name, _)| name.strip_prefix("hook.").unwrap_or(name)).collect();
            if asked.is_empty() {
                return Vec::new();
            }
            let mut entry = entry(specs.iter().any(|(_, gate)| *gate));
            entry.insert("intercept".into(), json!(asked));
            return vec![(self.name.clone(), Value::Object(entry))];
        }
        let flat = dialect.shape() == ConfigShape::Flat;
        let group = |entry| if flat { Value::Object(entry) } else { json!({ "hooks": [entry] }) };
        specs.into_iter().map(|(name, gate)| (name.to_owned(), group(entry(gate)))).collect()
    }
}
