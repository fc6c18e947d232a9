//! Manifests of Wasm artifacts, as in the CNCF's guidance for Wasm in OCI.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The media type of an image's manifest.
pub(crate) const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an index.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of an artifact's configuration.
pub const ARTIFACT_CONFIG: &str = "application/vnd.wasm.config.v0+json";
/// The media type of the only layer, the component.
pub const COMPONENT_LAYER: &str = "application/wasm";

/// The annotation that names the version.
pub const VERSION: &str = "org.opencontainers.image.version";

/// The descriptor of a blob or a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// Its media type.
    pub media_type: String,
    /// Its digest, with the prefix `sha256:`.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
    /// In an index: the kind of artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// In an index: the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// Annotations of the publisher.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// The platform of a manifest in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// `wasm`, for artifacts of this kind.
    pub architecture: String,
}

/// A manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// 2
    pub schema_version: u32,
    /// The media type of an image manifest, if it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The kind of artifact, if it differs from the media type of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// The configuration.
    pub config: Descriptor,
    /// The layers.
    pub layers: Vec<Descriptor>,
    /// The subject of the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    /// Annotations of the publisher.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// An index: several manifests under one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    #[serde(rename = "schemaVersion")]
    pub(crate) schema_version: u32,
    pub(crate) manifests: Vec<Descriptor>,
}

/// The configuration of a Wasm artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WasmConfig {
    /// The creation time; omitted, so that equal components make equal artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// `wasm`
    pub architecture: String,
    /// `wasip2`
    pub os: String,
    /// The digests of the layers.
    #[serde(default)]
    pub layer_digests: Vec<String>,
    /// The interfaces that it exports and imports, as its publisher wrote them. No decision depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<WorldOfComponent>,
}

/// The interfaces of a component, as its publisher wrote them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldOfComponent {
    /// Names of interfaces.
    #[serde(default)]
    pub exports: Vec<String>,
    /// Names of interfaces.
    #[serde(default)]
    pub imports: Vec<String>,
    /// The target world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl Manifest {
    /// The layer of the component.
    ///
    /// # Errors
    /// It is another kind of artifact.
    pub fn component(&self) -> Result<&Descriptor, String> {
        if self.schema_version != 2 {
            return Err(format!("its schema version is {}", self.schema_version));
        }
        if self.config.media_type != ARTIFACT_CONFIG {
            let found = hookbox::shorten(&self.config.media_type, 80);
            return Err(format!("its configuration is `{found}`, not `{ARTIFACT_CONFIG}`"));
        }
        match self.layers.as_slice() {
            [layer] if layer.media_type == COMPONENT_LAYER => Ok(layer),
            [layer] => {
                let found = hookbox::shorten(&layer.media_type, 80);
                Err(format!("its layer is `{found}`, not `{COMPONENT_LAYER}`"))
            }
            layers => Err(format!("it has {} layers, not 1", layers.len())),
        }
    }

    /// The version that the publisher gave.
    pub fn version(&self) -> Option<&str> {
        self.annotations.get(VERSION).map(String::as_str)
    }
}

impl Index {
    /// Returns the only manifest of a Wasm artifact in the index.
    pub(crate) fn component(&self) -> Result<&Descriptor, String> {
        if self.schema_version != 2 {
            return Err(format!("its schema version is {}", self.schema_version));
        }
        let wasm = |entry: &&Descriptor| {
            entry.platform.as_ref().is_some_and(|platform| platform.architecture == "wasm")
                || entry.artifact_type.as_deref() == Some(ARTIFACT_CONFIG)
        };
        let found: Vec<&Descriptor> = self.manifests.iter().filter(wasm).collect();
        match found.as_slice() {
            [one] if one.media_type == IMAGE => Ok(one),
            [one] => Err(format!("its index points to `{}`", hookbox::shorten(&one.media_type, 80))),
            found => Err(format!("its index has {} manifests for `wasm`, not 1", found.len())),
        }
    }
}
