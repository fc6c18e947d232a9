//! Resolves a component, its grants and its limits.

use std::path::{Component, Path, PathBuf};

use hookbox_sandbox::{
    Limits, Permissions,
    permission::{HttpGrant, LlmGrant, StateGrant},
};
use serde_json::{Map, Value};

use super::Resolver;
use crate::{
    artifact::{LOCK_FILE, Reference, ReferenceError, SCHEME},
    config::{Wasm, bundled, diagnostic::Finding, file::WasmEntry},
};

impl Resolver {
    /// Resolves a component.
    pub(super) fn wasm(&mut self, entry: WasmEntry, pointer: &str) -> Wasm {
        let mut limits_given = self.limits_given.clone();
        limits_given.extend(super::given(Some(&entry.limits), &format!("{pointer}/limits")));
        self.found.extend(bundled::check(&entry.component, &entry.config, pointer));
        let reference = self.reference(&entry.component, pointer);
        let (file, owner) = match &reference {
            // Without tag and digest, so that an update keeps the state of the component.
            Some(reference) => (LOCK_FILE, format!("{SCHEME}{}", reference.name())),
            None => (entry.component.as_str(), plain(&entry.component)),
        };
        Wasm {
            name: entry.component.clone(),
            component: self.base.join(file),
            must_load: reference.is_some(),
            reference,
            owner,
            permissions: self.permissions(entry.permissions, &format!("{pointer}/permissions")),
            config: entry.config,
            limits: merge(&self.limits, entry.limits),
            limits_given,
            digest: None,
        }
    }

    /// Parses a component's name as a reference. Reports an invalid reference.
    fn reference(&mut self, component: &str, pointer: &str) -> Option<Reference> {
        if !component.starts_with(SCHEME) {
            return None;
        }
        let invalid = |error: ReferenceError| {
            Finding::error(format!("{pointer}/component"), error.to_string())
                .help("a reference is, for example, `oci://registry.example/acme/guard:1.2`")
        };
        Reference::parse(component).map_err(|error| self.found.push(invalid(error))).ok()
    }

    /// Makes host paths absolute, and removes grants of `false`. Reports invalid origins.
    fn permissions(&mut self, mut permissions: Permissions, pointer: &str) -> Permissions {
        permissions.state = permissions.state.filter(|grant| *grant != StateGrant::Enabled(false));
        permissions.llm = permissions.llm.filter(|grant| *grant != LlmGrant::Enabled(false));
        for path in permissions.read.values_mut().chain(permissions.write.values_mut()) {
            *path = self.base.join(&*path).to_string_lossy().into_owned();
        }
        for (index, grant) in permissions.http.iter().enumerate() {
            let (origin, pointer) = match grant {
                HttpGrant::Origin(origin) => (origin, format!("{pointer}/http/{index}")),
                HttpGrant::Detailed(details) => (&details.origin, format!("{pointer}/http/{index}/origin")),
            };
            if !is_origin(origin) {
                self.found.push(
                    Finding::error(pointer, format!("`{origin}` is not an origin"))
                        .help("an origin is scheme, host and, unless it is the default, port: `https://example.com`"),
                );
            }
        }
        permissions
    }
}

/// A path without `.` components, so that a file has fewer spellings.
fn plain(component: &str) -> String {
    let parts = Path::new(component).components().filter(|part| *part != Component::CurDir);
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', '*', ' ']))
}

/// The hook's own limits, which override the file's.
fn merge(limits: &Limits, own: Map<String, Value>) -> Limits {
    if own.is_empty() {
        return limits.clone();
    }
    let Ok(Value::Object(mut merged)) = serde_json::to_value(limits) else { return limits.clone() };
    merged.extend(own);
    serde_json::from_value(Value::Object(merged)).unwrap_or_else(|_| limits.clone())
}
