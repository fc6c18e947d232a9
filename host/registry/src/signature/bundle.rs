//! A Sigstore bundle of version 0.3 that a key signed: a DSSE envelope around an in-toto statement about a digest.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    envelope::Envelope,
    error::SignatureError,
    key::{KeyError, PublicKey, SigningKey},
};

/// The media type of a bundle.
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The type of its payload.
const IN_TOTO: &str = "application/vnd.in-toto+json";
/// The type of an in-toto statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type that `cosign attest` still writes.
const OLD_STATEMENT: &str = "https://in-toto.io/Statement/v0.1";
/// The predicate of a plain signature.
pub(crate) const SIGN: &str = "https://sigstore.dev/cosign/sign/v1";
/// The predicate of a build's provenance.
pub(super) const PROVENANCE: &str = "https://slsa.dev/provenance/v1";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    media_type: String,
    verification_material: Material,
    #[serde(default)]
    dsse_envelope: Option<Envelope>,
}

#[derive(Debug, Deserialize)]
struct Material {
    #[serde(default)]
    certificate: Option<Value>,
}

/// The parts of a bundle that determine its verification. They are not verified.
pub(super) struct Glance {
    /// True if a certificate made it, false if a key did.
    pub(super) keyless: bool,
    /// True if it claims to be a signature or a provenance; false for other attestations.
    pub(super) signs: bool,
    /// Its in-toto statement.
    pub(super) statement: Vec<u8>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
    predicate_type: String,
}

#[derive(Debug, Deserialize)]
struct Subject {
    digest: Digests,
}

#[derive(Debug, Deserialize)]
struct Digests {
    sha256: Option<String>,
}

/// Signs the digest of a manifest (`sha256:…`).
pub(crate) fn sign(key: &SigningKey, digest: &str) -> Result<Vec<u8>, KeyError> {
    let hex = digest.trim_start_matches("sha256:");
    let statement = json!({
        "_type": STATEMENT,
        "subject": [{ "digest": { "sha256": hex } }],
        "predicateType": SIGN,
        "predicate": {},
    });
    let bundle = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": { "publicKey": { "hint": key.public().hint() } },
        "dsseEnvelope": Envelope::sign(key, IN_TOTO, &statement.to_string())?,
    });
    Ok(bundle.to_string().into_bytes())
}

/// Returns the key that signed the digest of a manifest in this bundle.
///
/// # Errors
/// [`SignatureError`]: unless one of the keys signed this digest.
pub(crate) fn verify<'a>(bundle: &[u8], digest: &str, keys: &'a [PublicKey]) -> Result<&'a PublicKey, SignatureError> {
    let (key, payload) = envelope(bundle)?.open(IN_TOTO, keys)?;
    is_about(&payload, digest)?;
    Ok(key)
}

/// Reads the parts of a bundle that determine its verification.
///
/// # Errors
/// [`SignatureError::Form`]
pub(super) fn glance(bundle: &[u8]) -> Result<Glance, SignatureError> {
    let keyless = parsed::<Bundle>(bundle)?.verification_material.certificate.is_some();
    let statement = envelope(bundle)?.payload(IN_TOTO)?;
    let signs = [SIGN, PROVENANCE].contains(&parsed::<Statement>(&statement)?.predicate_type.as_str());
    Ok(Glance { keyless, signs, statement })
}

/// The envelope of a bundle.
fn envelope(bundle: &[u8]) -> Result<Envelope, SignatureError> {
    let bundle: Bundle = parsed(bundle)?;
    if bundle.media_type != BUNDLE {
        let found = hookbox::shorten(&bundle.media_type, 80);
        return Err(SignatureError::Form(format!("it is `{found}`, not a Sigstore bundle of version 0.3")));
    }
    bundle.dsse_envelope.ok_or_else(|| SignatureError::Form("it has no DSSE envelope".into()))
}

/// Checks that a statement signs this digest: as `cosign sign` does, or as the provenance of a build.
///
/// # Errors
/// It is another statement, such as the result of a scan, which proves nothing about the publisher.
pub(super) fn is_about(statement: &[u8], digest: &str) -> Result<(), SignatureError> {
    let statement: Statement = parsed(statement)?;
    if ![STATEMENT, OLD_STATEMENT].contains(&statement.kind.as_str())
        || ![SIGN, PROVENANCE].contains(&statement.predicate_type.as_str())
    {
        let found = hookbox::shorten(&statement.predicate_type, 80);
        return Err(SignatureError::Form(format!("its statement is `{found}`, not a signature and not a provenance")));
    }
    let wanted = digest.strip_prefix("sha256:");
    let is_it = |subject: &Subject| subject.digest.sha256.is_some() && subject.digest.sha256.as_deref() == wanted;
    if statement.subject.iter().any(is_it) {
        return Ok(());
    }
    let named: Vec<&str> = statement.subject.iter().filter_map(|subject| subject.digest.sha256.as_deref()).collect();
    Err(SignatureError::Subject(hookbox::shorten(&named.join(", "), 200)))
}

pub(super) fn parsed<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, SignatureError> {
    let form = |error: String| SignatureError::Form(error);
    let value: Value = hookbox::json::parse(bytes).map_err(|error| form(error.to_string()))?;
    serde_json::from_value(value).map_err(|error| form(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use base64::{Engine, prelude::BASE64_STANDARD};
    use serde_json::{Value, json};

    use super::{SigningKey, sign, verify};

    #[test]
    fn only_the_digest_that_was_signed_by_the_key_is_proven() {
        let (key, _) = SigningKey::generate().unwrap();
        let (other, _) = SigningKey::generate().unwrap();
        let (digest, another) = (format!("sha256:{}", "a".repeat(64)), format!("sha256:{}", "b".repeat(64)));
        let bundle = sign(&key, &digest).unwrap();
        let keys = [other.public(), key.public()];
        assert_eq!(verify(&bundle, &digest, &keys).unwrap(), &key.public());
        assert!(verify(&bundle, &another, &keys).is_err());
        assert!(verify(&bundle, &digest, &keys[..1]).is_err());
        assert!(verify(&bundle, &digest, &[]).is_err());
    }

    #[test]
    fn a_changed_bundle_is_refused() {
        let (key, _) = SigningKey::generate().unwrap();
        let digest = format!("sha256:{}", "a".repeat(64));
        let bundle: Value = serde_json::from_slice(&sign(&key, &digest).unwrap()).unwrap();
        let payload = |statement: Value| json!(BASE64_STANDARD.encode(statement.to_string()));
        let changes: [(&str, Value); 6] = [
            ("/mediaType", json!("application/vnd.dev.sigstore.bundle+json;version=0.2")),
            ("/dsseEnvelope/payloadType", json!("text/plain")),
            ("/dsseEnvelope/payload", payload(json!({ "subject": [] }))),
            ("/dsseEnvelope/signatures", json!([])),
            ("/dsseEnvelope/signatures/0/sig", json!("AAAA")),
            ("/dsseEnvelope", json!(null)),
        ];
        for (pointer, value) in changes {
            let mut forged = bundle.clone();
            *forged.pointer_mut(pointer).unwrap() = value;
            assert!(verify(forged.to_string().as_bytes(), &digest, &[key.public()]).is_err(), "{pointer}");
        }
        // One good signature of two is not enough: a bundle has exactly one.
        let (other, _) = SigningKey::generate().unwrap();
        let wrong: Value = serde_json::from_slice(&sign(&other, &digest).unwrap()).unwrap();
        let [good, wrong] =
            [&bundle, &wrong].map(|bundle| bundle.pointer("/dsseEnvelope/signatures/0").unwrap().clone());
        for signatures in [json!([good, wrong]), json!([wrong, good]), json!([good, good])] {
            let mut forged = bundle.clone();
            *forged.pointer_mut("/dsseEnvelope/signatures").unwrap() = signatures;
            assert!(verify(forged.to_string().as_bytes(), &digest, &[key.public(), other.public()]).is_err());
        }
        assert!(verify(b"{}", &digest, &[key.public()]).is_err());
    }
}
