//! Bundles beside an artifact: as referrers of its manifest, or under a tag if the registry does not support referrers.

use std::collections::BTreeMap;

use hookbox::artifact::Reference;

use super::{
    bundle::{self, BUNDLE, SIGN},
    key::SigningKey,
};
use crate::{
    client::Registry,
    error::RegistryError,
    manifest::{Descriptor, IMAGE, INDEX, Index, Manifest},
    pull::{ManifestInfo, artifact, unexpected},
    push::{descriptor, text},
    transport::Ask,
};

/// The media type of the empty configuration, `{}`.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
/// The maximum number of bundles per artifact.
const MOST: usize = 16;

impl Registry {
    /// The bundles beside an artifact.
    ///
    /// # Errors
    /// [`RegistryError`]: any error of the registry. An artifact counts as unsigned only if the registry
    /// says so.
    pub(super) async fn bundles(&self, reference: &Reference, digest: &str) -> Result<Vec<Vec<u8>>, RegistryError> {
        let read = async {
            let mut found = self.referrers(reference, digest).await?;
            for entry in self.tagged(reference, digest).await?.manifests {
                if !found.iter().any(|known| known.digest == entry.digest) {
                    found.push(entry);
                }
            }
            let of_bundles = |entry: &&Descriptor| entry.artifact_type.as_deref() == Some(BUNDLE);
            let mut bundles = Vec::new();
            for entry in found.iter().filter(of_bundles).take(MOST) {
                bundles.push(self.bundle(reference, digest, entry).await?);
            }
            Ok(bundles)
        };
        self.in_time(reference, read).await
    }

    /// The bundle of a referrer.
    async fn bundle(&self, reference: &Reference, about: &str, entry: &Descriptor) -> Result<Vec<u8>, RegistryError> {
        let wrong = |why: &str| artifact(reference, format!("a signature beside it: {why}"));
        let (bytes, _) = self.manifest(reference, &entry.digest).await?;
        if descriptor(IMAGE, &bytes).digest != entry.digest {
            return Err(wrong("its manifest has another digest"));
        }
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| wrong(&error.to_string()))?;
        if manifest.subject.is_none_or(|subject| subject.digest != about) {
            return Err(wrong("it signs another artifact"));
        }
        match manifest.layers.as_slice() {
            [layer] if layer.media_type == BUNDLE => {
                self.blob(reference, layer, "a signature", self.bounds.manifest).await
            }
            _ => Err(wrong("it does not have exactly one bundle")),
        }
    }

    /// The referrers of a manifest, if the registry supports them.
    async fn referrers(&self, reference: &Reference, digest: &str) -> Result<Vec<Descriptor>, RegistryError> {
        let url = self.url(reference, &format!("referrers/{digest}"))?;
        let mut ask = Ask::get(url, "the list of signatures", self.bounds.manifest, reference);
        ask.headers.push(("accept".into(), INDEX.into()));
        let response = self.send(ask).await?;
        match response.status {
            200 => {
                let index: Index = serde_json::from_slice(&response.body)
                    .map_err(|error| artifact(reference, format!("its list of signatures: {error}")))?;
                Ok(index.manifests)
            }
            // The registry does not support referrers.
            404 => Ok(Vec::new()),
            status => Err(unexpected(reference, status, "a request for signatures")),
        }
    }

    /// The index under the tag that replaces referrers.
    async fn tagged(&self, reference: &Reference, digest: &str) -> Result<Index, RegistryError> {
        match self.manifest(reference, &tag(digest)).await {
            Ok((bytes, media_type)) if media_type == INDEX => serde_json::from_slice(&bytes)
                .map_err(|error| artifact(reference, format!("its list of signatures: {error}"))),
            // An older layout of cosign, which hookbox does not read.
            Ok(_) | Err(RegistryError::NotFound { .. }) => Ok(Index { schema_version: 2, manifests: Vec::new() }),
            Err(error) => Err(error),
        }
    }

    /// Signs an artifact and pushes the bundle beside it.
    ///
    /// # Errors
    /// [`RegistryError`]
    pub async fn sign(
        &self,
        reference: &Reference,
        seen: &ManifestInfo,
        key: &SigningKey,
    ) -> Result<(), RegistryError> {
        let bundle = bundle::sign(key, &seen.digest).map_err(|error| artifact(reference, error.to_string()))?;
        let layer = descriptor(BUNDLE, &bundle);
        let notes = [("dev.sigstore.bundle.content", "dsse-envelope"), ("dev.sigstore.bundle.predicateType", SIGN)];
        let annotations: BTreeMap<String, String> = notes.map(|(name, value)| (name.into(), value.into())).into();
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(IMAGE.into()),
            artifact_type: Some(BUNDLE.into()),
            config: descriptor(EMPTY, b"{}"),
            layers: vec![layer],
            subject: Some(Descriptor { digest: seen.digest.clone(), size: seen.size, ..descriptor(IMAGE, b"") }),
            annotations: annotations.clone(),
        };
        let manifest = text(reference, &manifest)?;
        let entry = Descriptor { artifact_type: Some(BUNDLE.into()), annotations, ..descriptor(IMAGE, &manifest) };
        let put = async {
            self.put_blob(reference, b"{}").await?;
            self.put_blob(reference, &bundle).await?;
            let (digest, knows_subject) = self.put_manifest(reference, &entry.digest, IMAGE, manifest).await?;
            if knows_subject {
                return Ok(());
            }
            let mut index = self.tagged(reference, &seen.digest).await?;
            index.manifests.retain(|known| known.digest != digest);
            index.manifests.push(entry);
            let index = text(
                reference,
                &serde_json::json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": index.manifests }),
            )?;
            self.put_manifest(reference, &tag(&seen.digest), INDEX, index).await.map(drop)
        };
        self.in_time(reference, put).await
    }
}

/// The tag of signatures for registries that do not support referrers (OCI distribution specification, "Referrers Tag Schema").
fn tag(digest: &str) -> String {
    digest.replacen(':', "-", 1)
}
