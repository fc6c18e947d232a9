//! Keyless signatures: a certificate for an identity that its issuer vouches for, and an entry in a transparency log, both
//! verified offline against a trusted root that the operator pins. The only file that uses `sigstore-verify`.

use std::sync::{Arc, Once};

use ring::{
    digest,
    signature::{self, UnparsedPublicKey, VerificationAlgorithm},
};
use sigstore_verify::{
    VerificationPolicy, Verifier,
    crypto::{CryptoProvider, HashContext, SigningScheme, install_default_provider},
    trust_root::TrustedRoot,
    types::{Bundle, HashAlgorithm, Sha256Hash},
};

use super::error::SignatureError;

/// Log entries, and timestamps, of one bundle at most. Each costs a few signatures to verify; real bundles have one.
const MAX_EVIDENCE: usize = 8;

/// The certificate authorities and logs that an operator trusts: a `trusted_root.json` of Sigstore.
#[derive(Clone)]
pub(super) struct Root(Arc<Verifier>);

impl std::fmt::Debug for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Root").finish_non_exhaustive()
    }
}

impl Root {
    /// Reads a trusted root.
    ///
    /// # Errors
    /// It is invalid, or trusts no certificate authority, no log of certificates or no log of signatures.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        install();
        let root = TrustedRoot::from_json(text).map_err(|error| error.to_string())?;
        if root.certificate_authorities.is_empty() || root.ctlogs.is_empty() || root.tlogs.is_empty() {
            return Err("it has no certificate authority, no certificate log or no transparency log".into());
        }
        Ok(Self(Arc::new(Verifier::new(&root).map_err(|error| error.to_string())?)))
    }

    /// The identity that signed a digest (`sha256:…`) in this bundle, with a certificate of this issuer.
    ///
    /// # Errors
    /// [`SignatureError`]: anything but a signature about this digest, by a certificate that is in its log, with an entry in the
    /// log of signatures.
    pub(super) fn signer(&self, bundle: &[u8], digest: &str, issuer: &str) -> Result<String, SignatureError> {
        let form = |error: String| SignatureError::Form(error);
        let text = std::str::from_utf8(bundle).map_err(|error| form(error.to_string()))?;
        let bundle = Bundle::from_json(text).map_err(|error| form(error.to_string()))?;
        let material = &bundle.verification_material;
        let timestamps = material.timestamp_verification_data.rfc3161_timestamps.len();
        if material.tlog_entries.len().max(timestamps) > MAX_EVIDENCE {
            return Err(form(format!("it has more than {MAX_EVIDENCE} log entries or timestamps")));
        }
        let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
        let digest = Sha256Hash::from_hex(hex).map_err(|error| form(error.to_string()))?;
        let policy = VerificationPolicy::any_identity().require_issuer(issuer);
        let wrong = |why: String| SignatureError::Keyless(hookbox::shorten(&why, 300));
        let found = self.0.verify(digest, &bundle, &policy).map_err(|error| wrong(error.to_string()))?;
        if !(found.certificate_verified() && found.sct_verified() && found.tlog_verified()) {
            return Err(wrong("its certificate or its entry in the log was not verified".into()));
        }
        let identity = found.identity().map(|identity| identity.as_str().to_owned());
        identity.ok_or_else(|| wrong("its certificate names no identity".into()))
    }
}

/// The library's cryptography, by `ring`.
#[derive(Debug)]
struct Ring;

struct Hash(digest::Context);

impl HashContext for Hash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

type Outcome<T> = Result<T, sigstore_verify::crypto::Error>;

fn unsupported<T>(what: impl std::fmt::Debug) -> Outcome<T> {
    Err(sigstore_verify::crypto::Error::UnsupportedAlgorithm(format!("{what:?} is not supported")))
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> Outcome<Box<dyn HashContext>> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &digest::SHA256,
            HashAlgorithm::Sha2384 => &digest::SHA384,
            HashAlgorithm::Sha2512 => &digest::SHA512,
            other => return unsupported(other),
        };
        Ok(Box::new(Hash(digest::Context::new(algorithm))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], signature: &[u8]) -> Outcome<()> {
        let algorithm: &dyn VerificationAlgorithm = match scheme {
            SigningScheme::EcdsaP256Sha256 => &signature::ECDSA_P256_SHA256_ASN1,
            SigningScheme::EcdsaP256Sha384 => &signature::ECDSA_P256_SHA384_ASN1,
            SigningScheme::EcdsaP384Sha256 => &signature::ECDSA_P384_SHA256_ASN1,
            SigningScheme::EcdsaP384Sha384 => &signature::ECDSA_P384_SHA384_ASN1,
            SigningScheme::Ed25519 => &signature::ED25519,
            SigningScheme::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
            SigningScheme::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
            SigningScheme::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
            SigningScheme::RsaPkcs1Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            SigningScheme::RsaPkcs1Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            SigningScheme::RsaPkcs1Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            other => return unsupported(other),
        };
        let verified = UnparsedPublicKey::new(algorithm, key).verify(data, signature);
        verified
            .map_err(|_| sigstore_verify::crypto::Error::Verification(format!("{} signature invalid", scheme.name())))
    }

    /// Only for bundles that sign bytes, and hooks are signed as in-toto statements.
    fn verify_prehashed(&self, scheme: SigningScheme, _: &[u8], _: &[u8], _: &[u8]) -> Outcome<()> {
        unsupported(scheme)
    }
}

/// Makes `ring` the library's cryptography. A host that set another one before keeps it.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = install_default_provider(&Ring);
    });
}

#[cfg(test)]
mod forged;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use sigstore_verify::trust_root::SigstoreInstance;

    use super::{Root, SignatureError};
    use crate::signature::bundle::is_about;

    /// A provenance that was published with Sigstore's staging instance: SLSA, with a timestamp and a log of version 2.
    const PROVENANCE: &[u8] = include_bytes!("published/staging-provenance.json");
    /// An attestation of a conda package that was published with Sigstore's public instance, from GitHub Actions.
    const CONDA: &[u8] = include_bytes!("published/conda.json");

    fn root(instance: SigstoreInstance) -> Root {
        Root::parse(instance.embedded_trusted_root_json()).unwrap()
    }

    /// The digest that a bundle is about, and its payload.
    fn subject(bundle: &[u8]) -> (String, Vec<u8>) {
        use base64::{Engine, prelude::BASE64_STANDARD};
        let bundle: serde_json::Value = serde_json::from_slice(bundle).unwrap();
        let payload = BASE64_STANDARD.decode(bundle["dsseEnvelope"]["payload"].as_str().unwrap()).unwrap();
        let statement: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        (format!("sha256:{}", statement["subject"][0]["digest"]["sha256"].as_str().unwrap()), payload)
    }

    #[test]
    fn published_bundles_are_verified_offline() {
        for (bundle, instance, other, issuer, identity, signs) in [
            (
                CONDA,
                SigstoreInstance::PublicGood,
                SigstoreInstance::Staging,
                "https://token.actions.githubusercontent.com",
                "https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main",
                false,
            ),
            (
                PROVENANCE,
                SigstoreInstance::Staging,
                SigstoreInstance::PublicGood,
                "https://token.actions.githubusercontent.com",
                "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main",
                true,
            ),
        ] {
            let (digest, payload) = subject(bundle);
            assert_eq!(root(instance).signer(bundle, &digest, issuer).unwrap(), identity);
            assert_eq!(is_about(&payload, &digest).is_ok(), signs);
            // Another root, another issuer, another digest, and any byte of the bundle's parts.
            assert!(matches!(root(other).signer(bundle, &digest, issuer), Err(SignatureError::Keyless(_))));
            assert!(root(instance).signer(bundle, &digest, "https://issuer.example").is_err());
            assert!(root(instance).signer(bundle, &format!("sha256:{}", "a".repeat(64)), issuer).is_err());
            let text = String::from_utf8(bundle.to_vec()).unwrap();
            let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
            for pointer in [
                "/dsseEnvelope/payload",
                "/dsseEnvelope/signatures/0/sig",
                "/verificationMaterial/certificate/rawBytes",
                "/verificationMaterial/tlogEntries/0/canonicalizedBody",
                "/verificationMaterial/tlogEntries/0/inclusionProof/checkpoint/envelope",
            ] {
                let mut changed = whole.clone();
                let value = changed.pointer_mut(pointer).unwrap();
                let old = value.as_str().unwrap();
                // Of a checkpoint, the first line is signed. The name of the signer behind it is not.
                let at = if pointer.ends_with("envelope") { 0 } else { old.len() / 2 };
                let letter = if &old[at..=at] == "A" { "B" } else { "A" };
                *value = format!("{}{letter}{}", &old[..at], &old[at + 1..]).into();
                let signer = root(instance).signer(changed.to_string().as_bytes(), &digest, issuer);
                assert!(signer.is_err(), "{pointer}: {signer:?}");
            }
            let mut unlogged = whole.clone();
            unlogged["verificationMaterial"]["tlogEntries"] = serde_json::json!([]);
            assert!(root(instance).signer(unlogged.to_string().as_bytes(), &digest, issuer).is_err());
        }
    }

    #[test]
    fn a_root_that_trusts_nothing_is_invalid() {
        for text in [
            "",
            "{}",
            "null",
            r#"{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1","tlogs":[],"certificateAuthorities":[],"ctlogs":[],"timestampAuthorities":[]}"#,
        ] {
            Root::parse(text).unwrap_err();
        }
    }
}
