//! Signers that a policy names.

use super::{
    bundle::{self, SignatureError},
    key::PublicKey,
    provenance::Provenance,
};

/// A signer that a policy names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Signer {
    /// A key.
    Key(PublicKey),
}

/// A publisher whose signature was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The publisher: `key:sha256:…`.
    pub publisher: String,
    /// The provenance of the build, if the publisher signed one.
    pub provenance: Option<Provenance>,
}

impl Signer {
    /// The name of the publisher.
    pub fn publisher(&self) -> String {
        match self {
            Self::Key(key) => key.publisher(),
        }
    }

    fn verify(&self, bundle: &[u8], digest: &str) -> Result<(), SignatureError> {
        match self {
            Self::Key(key) => bundle::verify(bundle, digest, std::slice::from_ref(key)).map(drop),
        }
    }
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
        let fitting = signers.iter().enumerate().filter(|_| !glance.keyless);
        why = why.or(Some(SignatureError::Key));
        for (place, signer) in fitting {
            if let Err(error) = signer.verify(bundle, digest).and_then(|()| bundle::is_about(&glance.statement, digest))
            {
                why = Some(error);
                continue;
            }
            let provenance = Provenance::of(&glance.statement);
            match &mut best {
                Some((known, verified)) if *known == place => {
                    verified.provenance = verified.provenance.take().or(provenance);
                }
                Some((known, _)) if *known < place => {}
                _ => best = Some((place, Verified { publisher: signer.publisher(), provenance })),
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
