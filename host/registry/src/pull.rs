//! Reading from a registry.

use hookbox::{artifact::Reference, sha256};
use serde::de::DeserializeOwned;

use crate::{
    client::Registry,
    error::RegistryError,
    manifest::{Descriptor, IMAGE, INDEX, Index, Manifest, WasmConfig},
    transport::Ask,
};

/// An artifact as its manifest describes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ManifestInfo {
    /// The digest of its manifest, with the prefix `sha256:`.
    pub digest: String,
    /// Its manifest.
    pub manifest: Manifest,
    /// The bytes of the manifest.
    pub size: u64,
    /// The component.
    pub component: Descriptor,
}

/// An artifact with its component.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pulled {
    /// Its manifest.
    pub seen: ManifestInfo,
    /// The component, with the digest in the manifest.
    pub component: Vec<u8>,
}

impl Registry {
    /// Reads the manifest of a reference. A tag is resolved once. All further requests use digests, so that a
    /// tag that moves meanwhile has no effect.
    ///
    /// # Errors
    /// [`RegistryError`]: also for artifacts that are not components.
    pub async fn inspect(&self, reference: &Reference) -> Result<ManifestInfo, RegistryError> {
        self.in_time(reference, self.seen(reference)).await
    }

    /// Reads the component of a reference.
    ///
    /// # Errors
    /// As [`Registry::inspect`].
    pub async fn pull(&self, reference: &Reference) -> Result<Pulled, RegistryError> {
        let pulled = async {
            let seen = self.seen(reference).await?;
            let component = self.component(reference, &seen.component).await?;
            Ok(Pulled { seen, component })
        };
        self.in_time(reference, pulled).await
    }

    /// Reads the component of an artifact whose manifest is known.
    ///
    /// # Errors
    /// As [`Registry::inspect`].
    pub async fn pull_seen(&self, reference: &Reference, seen: ManifestInfo) -> Result<Pulled, RegistryError> {
        let component = self.in_time(reference, self.component(reference, &seen.component)).await?;
        Ok(Pulled { seen, component })
    }

    /// Reads the configuration of an artifact, which its publisher wrote.
    ///
    /// # Errors
    /// As [`Registry::inspect`].
    pub async fn config(&self, reference: &Reference, seen: &ManifestInfo) -> Result<WasmConfig, RegistryError> {
        let descriptor = &seen.manifest.config;
        let read = async {
            let bytes = self.blob(reference, descriptor, "the configuration", self.bounds.manifest).await?;
            serde_json::from_slice(&bytes).map_err(|error| artifact(reference, format!("its configuration: {error}")))
        };
        self.in_time(reference, read).await
    }

    async fn seen(&self, reference: &Reference) -> Result<ManifestInfo, RegistryError> {
        let (mut bytes, mut media_type) = self.manifest(reference, reference.wanted()).await?;
        let mut digest = format!("sha256:{}", sha256(&bytes));
        if let Some(wanted) = reference.digest().filter(|wanted| **wanted != *digest) {
            return Err(wrong_digest("the manifest", wanted, &digest));
        }
        if media_type == INDEX {
            let index: Index = json(reference, &bytes)?;
            let chosen = index.component().map_err(|why| artifact(reference, why))?;
            // An index must point to one manifest that is not an index, so there is neither a cycle nor a tree.
            (bytes, media_type) = self.manifest(reference, &chosen.digest).await?;
            let found = format!("sha256:{}", sha256(&bytes));
            if found != chosen.digest || bytes.len() as u64 != chosen.size {
                return Err(wrong_digest("the manifest", &chosen.digest, &found));
            }
            digest = found;
        }
        if media_type != IMAGE {
            let found = hookbox::shorten(&media_type, 80);
            return Err(artifact(reference, format!("its manifest is `{found}`")));
        }
        let manifest: Manifest = json(reference, &bytes)?;
        let component = manifest.component().map_err(|why| artifact(reference, why))?.clone();
        if component.size > self.bounds.component {
            let host = reference.host().to_owned();
            return Err(RegistryError::TooLarge { host, what: "the component", limit: self.bounds.component });
        }
        Ok(ManifestInfo { digest, manifest, size: bytes.len() as u64, component })
    }

    async fn component(&self, reference: &Reference, layer: &Descriptor) -> Result<Vec<u8>, RegistryError> {
        self.blob(reference, layer, "the component", self.bounds.component).await
    }

    /// The bytes of a manifest by its digest or tag, and its media type.
    pub(crate) async fn manifest(&self, reference: &Reference, name: &str) -> Result<(Vec<u8>, String), RegistryError> {
        let url = self.url(reference, &format!("manifests/{name}"))?;
        let mut ask = Ask::get(url, "the manifest", self.bounds.manifest, reference);
        ask.headers.push(("accept".into(), format!("{IMAGE}, {INDEX}")));
        let response = self.send(ask).await?;
        match response.status {
            200 => {}
            404 => {
                let host = reference.host().to_owned();
                return Err(RegistryError::NotFound { host, what: format!("{}:{name}", reference.repository()) });
            }
            status => return Err(unexpected(reference, status, "a request for a manifest")),
        }
        // The media type in the text, or else in the header. They must agree: one reader would take it for an index, another
        // for an image.
        let sent = crate::transport::header(&response, "content-type").unwrap_or_default();
        let sent = sent.split(';').next().unwrap_or_default().trim().to_owned();
        let says: Says = json(reference, &response.body)?;
        if says.media_type.as_ref().is_some_and(|own| *own != sent) {
            return Err(artifact(reference, "the media type of its manifest differs from the header".into()));
        }
        if says.layers.is_some() && says.manifests.is_some() {
            return Err(artifact(reference, "its manifest is both an image and an index".into()));
        }
        Ok((response.body, sent))
    }

    /// The bytes of a blob, with the size and the digest of its descriptor.
    pub(crate) async fn blob(
        &self,
        reference: &Reference,
        descriptor: &Descriptor,
        what: &'static str,
        limit: u64,
    ) -> Result<Vec<u8>, RegistryError> {
        let host = || reference.host().to_owned();
        if descriptor.size > limit {
            return Err(RegistryError::TooLarge { host: host(), what, limit });
        }
        // A digest becomes part of a URL.
        if Reference::parse(&reference.at(&descriptor.digest).to_string()).is_err() {
            let found = hookbox::shorten(&descriptor.digest, 80);
            return Err(artifact(reference, format!("unsupported digest `{found}`")));
        }
        let url = self.url(reference, &format!("blobs/{}", descriptor.digest))?;
        let response = self.send(Ask::get(url, what, descriptor.size, reference)).await?;
        match response.status {
            200 => {}
            404 => return Err(RegistryError::NotFound { host: host(), what: format!("{what} {}", descriptor.digest) }),
            status => return Err(unexpected(reference, status, "a request for a blob")),
        }
        let found = format!("sha256:{}", sha256(&response.body));
        if found != descriptor.digest || response.body.len() as u64 != descriptor.size {
            return Err(wrong_digest(what, &descriptor.digest, &found));
        }
        Ok(response.body)
    }
}

/// The members that distinguish images from indices.
#[derive(serde::Deserialize)]
struct Says {
    #[serde(rename = "mediaType")]
    media_type: Option<String>,
    layers: Option<serde::de::IgnoredAny>,
    manifests: Option<serde::de::IgnoredAny>,
}

fn json<T: DeserializeOwned>(reference: &Reference, bytes: &[u8]) -> Result<T, RegistryError> {
    serde_json::from_slice(bytes).map_err(|error| artifact(reference, format!("its manifest: {error}")))
}

pub(crate) fn artifact(reference: &Reference, why: String) -> RegistryError {
    RegistryError::Artifact { what: reference.to_string(), why }
}

fn wrong_digest(what: &'static str, wanted: &str, found: &str) -> RegistryError {
    RegistryError::Digest { what, wanted: wanted.to_owned(), found: found.to_owned() }
}

pub(crate) fn unexpected(reference: &Reference, status: u16, what: &str) -> RegistryError {
    RegistryError::Status { host: reference.host().to_owned(), status, what: what.to_owned() }
}
