//! Policies: who may publish what, and what is revoked. A policy that makes no sense cannot be built.

use hookbox::artifact::Reference;
use serde::Deserialize;
use thiserror::Error;

use super::{bundle, key::PublicKey};
use crate::{client::Registry, error::RegistryError, pull::Seen};

/// Strictness of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// An artifact without a signature is refused, and so is one with a wrong signature.
    #[default]
    Require,
    /// An artifact without a signature is taken as unsigned; one with a wrong signature is refused.
    Warn,
    /// Signatures are not looked at.
    Off,
}

/// A policy: keys that may publish under some names.
#[derive(Debug, Clone)]
pub struct Policy {
    /// A repository with its host, or such a beginning with `*` after it.
    names: String,
    mode: Mode,
    keys: Vec<PublicKey>,
}

/// Policies, the first that names a repository being the one that holds for it.
#[derive(Debug, Clone, Default)]
pub struct Publishers(Vec<Policy>);

/// Digests and publishers that are refused although they are signed.
#[derive(Debug, Clone, Default)]
pub struct Revoked {
    digests: Vec<String>,
    publishers: Vec<String>,
}

/// The publisher of an artifact. There is one only where the policy is satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The publisher whose key signed it; `None`: nothing was verified.
    pub publisher: Option<String>,
}

/// Why an artifact is refused, or a policy invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A policy of `require` or `warn` names no key.
    #[error("the policy for `{0}` has no key, and its mode is not `off`")]
    NoKey(String),
    /// A policy is for names that cannot be any.
    #[error("`{0}` names no repositories: write `HOST/REPOSITORY`, or a beginning of it that ends with `/*`")]
    Names(String),
    /// It has no signature.
    #[error("{0} is not signed, and the policy requires a signature")]
    Unsigned(String),
    /// It has a signature that proves nothing.
    #[error("{reference} has a wrong signature: {why}")]
    Wrong {
        /// The reference.
        reference: String,
        /// Why.
        why: String,
    },
    /// It is revoked.
    #[error("{reference}: {what} is revoked")]
    Revoked {
        /// The reference.
        reference: String,
        /// The digest or the publisher.
        what: String,
    },
    /// The registry could not be asked: nothing is known of signatures.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl Policy {
    /// A policy for a repository, or for all below a beginning (`registry.example/acme/*`).
    ///
    /// # Errors
    /// [`PolicyError::NoKey`], [`PolicyError::Names`].
    pub fn new(names: impl Into<String>, mode: Mode, keys: Vec<PublicKey>) -> Result<Self, PolicyError> {
        let names = names.into();
        let plain = names.strip_suffix("/*").unwrap_or(&names);
        if plain.is_empty() || plain.contains('*') || plain.starts_with('/') || !names.contains('/') {
            return Err(PolicyError::Names(names));
        }
        if keys.is_empty() && mode != Mode::Off {
            return Err(PolicyError::NoKey(names));
        }
        Ok(Self { names, mode, keys })
    }

    fn is_for(&self, name: &str) -> bool {
        match self.names.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.names,
        }
    }
}

impl Publishers {
    /// These policies, in this order.
    pub fn new(policies: Vec<Policy>) -> Self {
        Self(policies)
    }

    /// Verifies the signatures of an artifact.
    ///
    /// # Errors
    /// [`PolicyError`]: also where the registry does not answer, in every mode but `off`.
    pub async fn verify(
        &self,
        registry: &Registry,
        reference: &Reference,
        seen: &Seen,
    ) -> Result<Verified, PolicyError> {
        let nothing = Verified { publisher: None };
        let name = reference.name();
        let Some(policy) = self.0.iter().find(|policy| policy.is_for(&name)) else { return Ok(nothing) };
        if policy.mode == Mode::Off {
            return Ok(nothing);
        }
        let bundles = registry.bundles(reference, &seen.digest).await?;
        let mut why = None;
        for bundle in &bundles {
            match bundle::verify(bundle, &seen.digest, &policy.keys) {
                Ok(key) => return Ok(Verified { publisher: Some(key.publisher()) }),
                Err(error) => why = Some(error.to_string()),
            }
        }
        match (why, policy.mode) {
            (Some(why), _) => Err(PolicyError::Wrong { reference: reference.to_string(), why }),
            (None, Mode::Require) => Err(PolicyError::Unsigned(reference.to_string())),
            (None, _) => Ok(nothing),
        }
    }
}

impl Revoked {
    /// These digests (of manifests or components) and publishers.
    pub fn new(digests: Vec<String>, publishers: Vec<String>) -> Self {
        Self { digests, publishers }
    }

    /// Checks that neither a component, nor its manifest, nor its publisher is revoked.
    ///
    /// # Errors
    /// [`PolicyError::Revoked`]
    pub fn check(&self, reference: &Reference, digests: [&str; 2], publisher: Option<&str>) -> Result<(), PolicyError> {
        let digest = digests.into_iter().find(|digest| self.digests.iter().any(|revoked| revoked == digest));
        let publisher = publisher.filter(|publisher| self.publishers.iter().any(|revoked| revoked == publisher));
        match digest.or(publisher) {
            Some(what) => Err(PolicyError::Revoked { reference: reference.to_string(), what: what.to_owned() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Mode, Policy, PolicyError};
    use crate::signature::key::SigningKey as Key;

    #[test]
    fn a_policy_that_makes_no_sense_cannot_be_built() {
        let keys = || vec![Key::generate().unwrap().0.public()];
        assert!(matches!(Policy::new("registry.example/a", Mode::Require, Vec::new()), Err(PolicyError::NoKey(_))));
        for names in ["", "*", "/*", "registry.example", "registry.example/*/a", "registry.example/a*", "/a"] {
            assert!(matches!(Policy::new(names, Mode::Require, keys()), Err(PolicyError::Names(_))), "{names}");
        }
        let policy = Policy::new("registry.example/acme/*", Mode::Require, keys()).unwrap();
        assert!(policy.is_for("registry.example/acme/guard"));
        assert!(!policy.is_for("registry.example/acme-evil/guard"));
        assert!(!policy.is_for("registry.example/acme"));
    }
}
