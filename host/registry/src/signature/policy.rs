//! Policies: the signers that may publish under some names, and revocations. Inconsistent policies cannot be built.

use std::path::{Path, PathBuf};

use hookbox::artifact::{Reference, Revoked, SCHEME};
use serde::Deserialize;
use thiserror::Error;

use super::{
    key::{KeyError, PublicKey},
    signer::{Identity, Signer, Verified, verified},
};
use crate::{client::Registry, error::RegistryError, pull::ManifestInfo};

/// Strictness of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// An artifact without a signature is refused, and so is one with a wrong signature.
    #[default]
    Require,
    /// An artifact without a signature is accepted as unsigned; one with a wrong signature is refused.
    Warn,
    /// Signatures are not checked.
    Off,
}

/// A policy: keys and identities that may publish under some names.
#[derive(Debug, Clone)]
pub struct Policy {
    /// A repository with its host, or a prefix with `*` after it.
    names: String,
    mode: Mode,
    signers: Vec<Signer>,
}

/// A policy as written in a settings file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Publisher {
    /// A repository with its host, or a prefix: `registry.example/acme/*`.
    pub references: String,
    /// Strictness. Default: `require`.
    #[serde(default)]
    pub mode: Mode,
    /// Files of public keys, or their PEM text.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Identities that sign without a key.
    #[serde(default)]
    pub identities: Vec<Identity>,
    /// The file of the trusted root for these identities (`trusted_root.json`).
    #[serde(default)]
    pub trusted_root: Option<PathBuf>,
}

/// Policies. For each repository, the first matching one applies.
#[derive(Debug, Clone, Default)]
pub struct Publishers(Vec<Policy>);

/// Demands on an artifact before it is locked: published by an allowed key, and not revoked.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Policies of publishers.
    pub publishers: Publishers,
    /// Digests and publishers that are refused even with a valid signature.
    pub revoked: Revoked,
}

/// The reason why an artifact is refused, or a policy is invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A policy of `require` or `warn` names nobody.
    #[error("the policy for `{0}` has no key and no identity, and its mode is not `off`")]
    NoKey(String),
    /// An identity names everybody, or a trusted root is missing, useless or invalid.
    #[error("the policy for `{0}`: {1}")]
    Identity(String, String),
    /// The names of a policy are invalid.
    #[error("`{0}` names no repositories: write `HOST/REPOSITORY`, or a prefix that ends with `/*`")]
    Names(String),
    /// A key is invalid.
    #[error("the policy for `{0}`: {1}")]
    Key(String, KeyError),
    /// The artifact has no signature.
    #[error("{0} is not signed, and the policy requires a signature")]
    Unsigned(String),
    /// The artifact has a wrong signature.
    #[error("{reference} has a wrong signature: {why}")]
    Wrong {
        /// The reference.
        reference: String,
        /// The reason.
        why: String,
    },
    /// The artifact or its publisher is revoked.
    #[error("{reference}: {what} is revoked")]
    Revoked {
        /// The reference.
        reference: String,
        /// The digest or the publisher.
        what: String,
    },
    /// The registry failed, so the signatures are unknown.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl Policy {
    /// Creates a policy for a repository, or for a prefix (`registry.example/acme/*`).
    ///
    /// # Errors
    /// [`PolicyError::NoKey`], [`PolicyError::Names`].
    pub fn new(names: impl Into<String>, mode: Mode, signers: Vec<Signer>) -> Result<Self, PolicyError> {
        let names = names.into().to_lowercase();
        // A policy for a name that no reference has would never apply.
        let example = match names.strip_suffix("/*") {
            Some(beginning) => format!("{SCHEME}{beginning}/x:x"),
            None => format!("{SCHEME}{names}:x"),
        };
        if Reference::parse(&example).is_err() {
            return Err(PolicyError::Names(names));
        }
        if signers.is_empty() && mode != Mode::Off {
            return Err(PolicyError::NoKey(names));
        }
        Ok(Self { names, mode, signers })
    }

    fn is_for(&self, name: &str) -> bool {
        match self.names.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.names,
        }
    }
}

impl Publisher {
    /// Builds the policy. Files are relative to `folder`.
    ///
    /// # Errors
    /// As [`Policy::new`], [`PolicyError::Key`], [`PolicyError::Identity`].
    pub fn policy(&self, folder: &Path) -> Result<Policy, PolicyError> {
        let keys = self.keys.iter().map(|key| {
            let is_text = key.contains("-----BEGIN");
            let read = if is_text { PublicKey::from_pem(key) } else { PublicKey::read(&folder.join(key)) };
            read.map(Signer::Key).map_err(|error| PolicyError::Key(self.references.clone(), error))
        });
        let mut signers: Vec<Signer> = keys.collect::<Result<_, _>>()?;
        let root = self.trusted_root.as_ref().map(|file| folder.join(file));
        let identities = Signer::identities(&self.identities, root.as_deref());
        signers.extend(identities.map_err(|why| PolicyError::Identity(self.references.clone(), why))?);
        Policy::new(&self.references, self.mode, signers)
    }
}

impl Publishers {
    /// These policies, in this order.
    pub fn new(policies: Vec<Policy>) -> Self {
        Self(policies)
    }

    /// Returns true if an earlier verification of an artifact satisfies the current policies.
    pub fn accept(&self, reference: &Reference, publisher: Option<&str>) -> bool {
        let name = reference.name();
        let Some(policy) = self.0.iter().find(|policy| policy.is_for(&name)) else { return true };
        let known = |publisher: &str| policy.signers.iter().any(|signer| signer.publisher() == publisher);
        match (policy.mode, publisher) {
            (Mode::Off, _) | (Mode::Warn, None) => true,
            (Mode::Require, None) => false,
            (_, Some(publisher)) => known(publisher),
        }
    }

    /// Verifies the signatures of an artifact. Returns the publisher who signed it, if the policy requires one.
    ///
    /// # Errors
    /// [`PolicyError`]: also if the registry does not respond, in every mode except `off`.
    pub async fn verify(
        &self,
        registry: &Registry,
        reference: &Reference,
        seen: &ManifestInfo,
    ) -> Result<Option<Verified>, PolicyError> {
        let name = reference.name();
        let Some(policy) = self.0.iter().find(|policy| policy.is_for(&name)) else { return Ok(None) };
        if policy.mode == Mode::Off {
            return Ok(None);
        }
        let bundles = registry.bundles(reference, &seen.digest).await?;
        match (verified(&bundles, &seen.digest, &policy.signers), policy.mode) {
            (Ok(None), Mode::Require) => Err(PolicyError::Unsigned(reference.to_string())),
            (Ok(found), _) => Ok(found),
            (Err(error), _) => Err(PolicyError::Wrong { reference: reference.to_string(), why: error.to_string() }),
        }
    }
}

impl Trust {
    /// Verifies the signatures of an artifact, and that neither it nor its publisher is revoked. Returns the publisher, if one
    /// was verified.
    ///
    /// # Errors
    /// As [`Publishers::verify`], and [`PolicyError::Revoked`].
    pub async fn verify(
        &self,
        registry: &Registry,
        reference: &Reference,
        seen: &ManifestInfo,
    ) -> Result<Option<Verified>, PolicyError> {
        let verified = self.publishers.verify(registry, reference, seen).await?;
        let digests = [seen.component.digest.as_str(), seen.digest.as_str()];
        let publisher = verified.as_ref().map(|verified| verified.publisher.as_str());
        let identity = verified.as_ref().and_then(|verified| verified.identity.as_deref());
        let revoked = self.revoked.find(digests, publisher).or_else(|| self.revoked.find(digests, identity));
        match revoked {
            Some(what) => Err(PolicyError::Revoked { reference: reference.to_string(), what: what.to_owned() }),
            None => Ok(verified),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Mode, Policy, PolicyError, Signer};
    use crate::signature::key::SigningKey as Key;

    #[test]
    fn an_inconsistent_policy_cannot_be_built() {
        let keys = || vec![Signer::Key(Key::generate().unwrap().0.public())];
        assert!(matches!(Policy::new("registry.example/a", Mode::Require, Vec::new()), Err(PolicyError::NoKey(_))));
        for names in [
            "",
            "*",
            "/*",
            "registry.example",
            "registry.example/*/a",
            "registry.example/a*",
            "/a",
            "oci://registry.example/a",
            "registry.example/a:1",
        ] {
            assert!(matches!(Policy::new(names, Mode::Require, keys()), Err(PolicyError::Names(_))), "{names}");
        }
        let policy = Policy::new("registry.example/acme/*", Mode::Require, keys()).unwrap();
        assert!(policy.is_for("registry.example/acme/guard"));
        assert!(!policy.is_for("registry.example/acme-evil/guard"));
        assert!(!policy.is_for("registry.example/acme"));
    }
}
