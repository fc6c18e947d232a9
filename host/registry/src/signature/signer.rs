//! Signers that a policy names: keys, and identities under a pinned root.

use std::{
    io::{self, Read},
    path::Path,
};

use hookbox::private::open_regular;
use serde::Deserialize;

use super::{bundle, error::SignatureError, key::PublicKey, keyless::Root, provenance::Provenance};

/// Bytes of a trusted root's file at most.
const MAX_ROOT: u64 = 4 << 20;

/// An identity that signs without a key, as it is written in a file of settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The identity in the certificate: a workflow, an e-mail address or another URI. A `*` at its end stands for any rest,
    /// after the `/` below an owner or in the ref after an `@`.
    pub identity: String,
    /// The issuer that vouches for the identity: `https://token.actions.githubusercontent.com`.
    pub issuer: String,
}

/// A signer that a policy names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Signer {
    /// A key.
    Key(PublicKey),
    /// An identity, with the root that its certificates come from.
    Keyless(Keyless),
}

/// An identity under a pinned root.
#[derive(Debug, Clone)]
pub struct Keyless {
    identity: Identity,
    root: Root,
}

/// A publisher whose signature was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The publisher: `key:sha256:…`, or the identity of the policy and its issuer.
    pub publisher: String,
    /// The exact identity in the certificate and its issuer, if the signature is keyless.
    pub identity: Option<String>,
    /// The provenance of the build, if the publisher signed one.
    pub provenance: Option<Provenance>,
}

impl Identity {
    /// Returns true if this is the identity in a certificate. Nothing is normalised: case and slashes count.
    fn matches(&self, found: &str) -> bool {
        match self.identity.strip_suffix('*') {
            Some(beginning) => found.starts_with(beginning),
            None => found == self.identity,
        }
    }

    /// Checks that it names one publisher: `https://github.com/*` would let every user of the issuer sign, and
    /// `https://github.com/acme*` the owner `acme-evil`.
    fn check(&self) -> Result<(), String> {
        let Self { identity, issuer } = self;
        let Some(beginning) = identity.strip_suffix('*') else {
            let plain = !identity.is_empty() && !issuer.is_empty() && !identity.contains('*');
            return plain.then_some(()).ok_or_else(|| self.names_nobody());
        };
        let (_, path) = beginning.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap_or_default();
        let owned = path.split_once('/').is_some_and(|(owner, _)| !owner.is_empty());
        let bounded = beginning.ends_with('/') || path.contains('@');
        if owned && bounded && !beginning.contains('*') && !issuer.is_empty() {
            return Ok(());
        }
        Err(self.names_nobody())
    }

    fn names_nobody(&self) -> String {
        let Self { identity, issuer } = self;
        format!(
            "the identity `{identity}` of the issuer `{issuer}` names nobody in particular: write both, and a `*` only at the end, \
             after `HOST/OWNER/` or in the ref after an `@`"
        )
    }
}

impl Signer {
    /// The signers of these identities, whose certificates come from the root in a file.
    ///
    /// # Errors
    /// The root is missing, useless or invalid, or an identity names everybody.
    pub(super) fn identities(identities: &[Identity], root: Option<&Path>) -> Result<Vec<Self>, String> {
        let Some(file) = root else {
            return if identities.is_empty() { Ok(Vec::new()) } else { Err("`identities` needs `trustedRoot`".into()) };
        };
        if identities.is_empty() {
            return Err("`trustedRoot` needs `identities`".into());
        }
        let shown = |why: String| format!("{}: {why}", file.display());
        let root = Root::parse(&content(file).map_err(|error| shown(error.to_string()))?).map_err(shown)?;
        let keyless = identities.iter().map(|identity| {
            identity.check()?;
            Ok(Self::Keyless(Keyless { identity: identity.clone(), root: root.clone() }))
        });
        keyless.collect()
    }

    /// The name of the publisher.
    pub fn publisher(&self) -> String {
        match self {
            Self::Key(key) => key.publisher(),
            Self::Keyless(Keyless { identity, .. }) => named(&identity.identity, &identity.issuer),
        }
    }

    /// Verifies a bundle. Returns the exact identity and its issuer, if it is keyless.
    fn verify(&self, bundle: &[u8], digest: &str) -> Result<Option<String>, SignatureError> {
        match self {
            Self::Key(key) => bundle::verify(bundle, digest, std::slice::from_ref(key)).map(|_| None),
            Self::Keyless(Keyless { identity, root }) => {
                let found = root.signer(bundle, digest, &identity.issuer)?;
                if identity.matches(&found) {
                    Ok(Some(named(&found, &identity.issuer)))
                } else {
                    Err(SignatureError::Identity(hookbox::shorten(&found, 200)))
                }
            }
        }
    }
}

/// The name of a keyless publisher.
fn named(identity: &str, issuer: &str) -> String {
    format!("{identity} ({issuer})")
}

/// Returns the first of these signers that signed the digest of a manifest in one of these bundles. `None` if no bundle claims
/// to be a signature.
///
/// # Errors
/// There are signatures, but none of them is valid. Other attestations do not count as signatures.
pub(super) fn verified(
    bundles: &[Vec<u8>],
    digest: &str,
    signers: &[Signer],
) -> Result<Option<Verified>, SignatureError> {
    let mut why = None;
    let mut best: Option<(usize, Verified)> = None;
    for bundle in bundles {
        let glance = match bundle::glance(bundle) {
            Ok(glance) if glance.signs => glance,
            Ok(_) => continue,
            Err(error) => {
                why = Some(error);
                continue;
            }
        };
        let fitting =
            signers.iter().enumerate().filter(|(_, signer)| matches!(signer, Signer::Keyless(_)) == glance.keyless);
        why = why.or(Some(SignatureError::Key));
        for (place, signer) in fitting {
            let outcome = signer.verify(bundle, digest);
            let about = bundle::is_about(&glance.statement, digest);
            let identity = match outcome.and_then(|identity| about.map(|()| identity)) {
                Ok(identity) => identity,
                Err(error) => {
                    why = Some(error);
                    continue;
                }
            };
            let provenance = Provenance::of(&glance.statement);
            match &mut best {
                Some((known, verified)) if *known == place => {
                    verified.provenance = verified.provenance.take().or(provenance);
                }
                Some((known, _)) if *known < place => {}
                _ => best = Some((place, Verified { publisher: signer.publisher(), identity, provenance })),
            }
            break;
        }
    }
    match (best, why) {
        (Some((_, verified)), _) => Ok(Some(verified)),
        (None, Some(why)) => Err(why),
        (None, None) => Ok(None),
    }
}

fn content(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(file)?.take(MAX_ROOT).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::Identity;

    fn identity(identity: &str) -> Identity {
        Identity { identity: identity.into(), issuer: "https://issuer.example".into() }
    }

    #[test]
    fn an_identity_names_somebody_in_particular() {
        for name in [
            "",
            "*",
            "https://*",
            "https://github.com*",
            "https://github.com/*",
            "https://github.com//*",
            "https://github.com/acme*",
            "https://github.com/acme/guard*",
            "https://github.com/*/guard/",
            "https://github.com/acme/*/release.yml@*",
            "*@acme.example",
            "release@*",
            "https://acme@github.com/*",
        ] {
            assert!(identity(name).check().is_err(), "{name}");
        }
        assert!(Identity { issuer: String::new(), ..identity("release@acme.example") }.check().is_err());
        for name in [
            "release@acme.example",
            "https://github.com/acme/*",
            "https://github.com/acme/guard/*",
            "https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/*",
            "https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/v1*",
        ] {
            assert_eq!(identity(name).check(), Ok(()), "{name}");
        }
    }

    #[test]
    fn identities_are_compared_letter_by_letter() {
        let exact = identity("https://github.com/acme/guard");
        let below = identity("https://github.com/acme/*");
        assert!(exact.matches("https://github.com/acme/guard") && below.matches("https://github.com/acme/guard"));
        for found in [
            "https://github.com/acme/guard/",
            "https://github.com/Acme/guard",
            "https://github.com/acme/guard-evil",
            "http://github.com/acme/guard",
            "x https://github.com/acme/guard",
            "https://github.com/acme/guar",
            "",
        ] {
            assert!(!exact.matches(found), "{found}");
        }
        for found in
            ["https://github.com/acme", "https://github.com/acme-evil/guard", "https://github.com/ACME/guard", ""]
        {
            assert!(!below.matches(found), "{found}");
        }
    }
}
