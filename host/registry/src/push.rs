//! Writing to a registry.

use std::collections::BTreeMap;

use hookbox::{
    artifact::{Power, Reference},
    sandbox::component::Inspection,
    sha256,
};
use serde_json::Value;
use url::Url;

use crate::{
    auth::Scope,
    client::Registry,
    error::RegistryError,
    manifest::{ARTIFACT_CONFIG, COMPONENT_LAYER, Descriptor, IMAGE, Manifest, WasmConfig, WorldOfComponent},
    pull::unexpected,
    transport::{Ask, header},
};

/// An artifact that was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pushed {
    /// The digest of its manifest, with the prefix `sha256:`.
    pub digest: String,
    /// The digest of its component.
    pub component: String,
}

impl Registry {
    /// Pushes a component under a reference, with annotations such as `org.opencontainers.image.source`. Equal
    /// components with equal annotations make equal artifacts.
    ///
    /// # Errors
    /// [`RegistryError`]
    pub async fn push(
        &self,
        reference: &Reference,
        component: &[u8],
        found: &Inspection,
        annotations: BTreeMap<String, String>,
    ) -> Result<Pushed, RegistryError> {
        let layer = descriptor(COMPONENT_LAYER, component);
        let power = Power::of(found);
        let config = WasmConfig {
            created: None,
            author: None,
            architecture: "wasm".into(),
            os: "wasip2".into(),
            layer_digests: vec![layer.digest.clone()],
            component: Some(WorldOfComponent {
                exports: power.exports.into_iter().collect(),
                imports: power.imports.into_iter().collect(),
                target: found.contract.clone(),
            }),
        };
        let config = text(reference, &config)?;
        let digest = layer.digest.clone();
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(IMAGE.into()),
            artifact_type: None,
            config: descriptor(ARTIFACT_CONFIG, &config),
            layers: vec![layer],
            subject: None,
            annotations,
        };
        let manifest = text(reference, &manifest)?;
        let pushed = async {
            self.put_blob(reference, component).await?;
            self.put_blob(reference, &config).await?;
            self.put_manifest(reference, reference.wanted(), IMAGE, manifest).await
        };
        let manifest = self.in_time(reference, pushed).await?.0;
        Ok(Pushed { digest: manifest, component: digest })
    }

    /// Writes a manifest. Returns its digest, and true if the registry supports its subject (`OCI-Subject`).
    pub(crate) async fn put_manifest(
        &self,
        reference: &Reference,
        name: &str,
        media_type: &str,
        manifest: Vec<u8>,
    ) -> Result<(String, bool), RegistryError> {
        let digest = format!("sha256:{}", sha256(&manifest));
        let ask = Ask {
            method: "PUT",
            headers: vec![("content-type".into(), media_type.into())],
            body: Some(manifest),
            scope: Scope::push(reference),
            ..Ask::get(
                self.url(reference, &format!("manifests/{name}"))?,
                "the response to a manifest",
                self.bounds.manifest,
                reference,
            )
        };
        let response = self.send(ask).await?;
        match response.status {
            200..=202 => Ok((digest, header(&response, "oci-subject").is_some())),
            status => Err(unexpected(reference, status, "a manifest")),
        }
    }

    /// Uploads a blob in one request, unless it exists.
    pub(crate) async fn put_blob(&self, reference: &Reference, blob: &[u8]) -> Result<(), RegistryError> {
        let digest = format!("sha256:{}", sha256(blob));
        let (limit, what) = (self.bounds.manifest, "the response to a blob");
        let ask =
            |method, url: Url| Ask { method, scope: Scope::push(reference), ..Ask::get(url, what, limit, reference) };
        let there = self.send(ask("HEAD", self.url(reference, &format!("blobs/{digest}"))?)).await?;
        if there.status == 200 {
            return Ok(());
        }
        let uploads = self.url(reference, "blobs/uploads/")?;
        let begun = self.send(Ask { body: Some(Vec::new()), ..ask("POST", uploads.clone()) }).await?;
        if begun.status != 202 {
            return Err(unexpected(reference, begun.status, "the start of an upload"));
        }
        let place = header(&begun, "location").and_then(|place| uploads.join(place).ok());
        let mut place = place.ok_or_else(|| unexpected(reference, begun.status, "an upload without a location"))?;
        place.query_pairs_mut().append_pair("digest", &digest);
        let headers = vec![("content-type".into(), "application/octet-stream".into())];
        let done = self.send(Ask { headers, body: Some(blob.to_vec()), ..ask("PUT", place) }).await?;
        match done.status {
            200..=204 => Ok(()),
            status => Err(unexpected(reference, status, "a blob")),
        }
    }
}

/// The descriptor of some bytes.
pub(crate) fn descriptor(media_type: &str, bytes: &[u8]) -> Descriptor {
    Descriptor {
        media_type: media_type.into(),
        digest: format!("sha256:{}", sha256(bytes)),
        size: bytes.len() as u64,
        artifact_type: None,
        platform: None,
        annotations: BTreeMap::new(),
    }
}

/// Compact JSON.
pub(crate) fn text(reference: &Reference, value: &impl serde::Serialize) -> Result<Vec<u8>, RegistryError> {
    let value: serde_json::Result<Value> = serde_json::to_value(value);
    let text = value.and_then(|value| serde_json::to_vec(&value));
    text.map_err(|error| crate::pull::artifact(reference, error.to_string()))
}
