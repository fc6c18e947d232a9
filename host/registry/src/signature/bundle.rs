//! A Sigstore bundle of version 0.3 that a key signed: a DSSE envelope around an in-toto statement about a digest.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use super::key::{KeyError, PublicKey, SigningKey};

/// The media type of a bundle.
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The type of its payload.
const IN_TOTO: &str = "application/vnd.in-toto+json";
/// The type of an in-toto statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The predicate of a plain signature.
pub(crate) const SIGN: &str = "https://sigstore.dev/cosign/sign/v1";

/// Why a bundle does not prove anything.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It is not a bundle of this version.
    #[error("it is not a Sigstore bundle of version 0.3: {0}")]
    Form(String),
    /// It is about another digest.
    #[error("it signs {0}, not this artifact")]
    Subject(String),
    /// None of the keys made it.
    #[error("none of the publisher's keys made it")]
    Key,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    media_type: String,
    verification_material: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dsse_envelope: Option<Envelope>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Signature {
    sig: String,
    #[serde(default)]
    keyid: String,
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
    let payload = statement.to_string();
    let signature = key.sign(&message(IN_TOTO, payload.as_bytes()))?;
    let bundle = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": { "publicKey": { "hint": key.public().hint() } },
        "dsseEnvelope": {
            "payload": BASE64_STANDARD.encode(&payload),
            "payloadType": IN_TOTO,
            "signatures": [{ "sig": BASE64_STANDARD.encode(signature), "keyid": "" }],
        },
    });
    Ok(bundle.to_string().into_bytes())
}

/// The key of several that signed the digest of a manifest in this bundle.
///
/// # Errors
/// [`SignatureError`]: in every case but that one of the keys signed this digest.
pub(crate) fn verify<'a>(bundle: &[u8], digest: &str, keys: &'a [PublicKey]) -> Result<&'a PublicKey, SignatureError> {
    let form = |why: &str| SignatureError::Form(why.to_owned());
    let value = hookbox::json::parse(bundle).map_err(|error| SignatureError::Form(error.to_string()))?;
    let bundle: Bundle = serde_json::from_value(value).map_err(|error| SignatureError::Form(error.to_string()))?;
    if bundle.media_type != BUNDLE {
        return Err(SignatureError::Form(format!("it is `{}`", hookbox::shorten(&bundle.media_type, 80))));
    }
    let envelope = bundle.dsse_envelope.ok_or_else(|| form("it has no DSSE envelope"))?;
    if envelope.payload_type != IN_TOTO {
        return Err(form("its payload is not an in-toto statement"));
    }
    let payload = BASE64_STANDARD.decode(&envelope.payload).map_err(|_| form("its payload is not Base64"))?;
    let message = message(IN_TOTO, &payload);
    let signatures: Vec<Vec<u8>> =
        envelope.signatures.iter().filter_map(|signature| BASE64_STANDARD.decode(&signature.sig).ok()).collect();
    // First who says it, then what it says: a statement that nobody signed is not read.
    let signed = |key: &&PublicKey| signatures.iter().any(|signature| key.verifies(&message, signature));
    let key = keys.iter().find(signed).ok_or(SignatureError::Key)?;
    let value = hookbox::json::parse(&payload).map_err(|error| SignatureError::Form(error.to_string()))?;
    let statement: Statement =
        serde_json::from_value(value).map_err(|error| SignatureError::Form(error.to_string()))?;
    if statement.kind != STATEMENT || statement.predicate_type != SIGN {
        return Err(form("its statement is not a signature"));
    }
    let wanted = digest.strip_prefix("sha256:");
    let is_about = |subject: &Subject| subject.digest.sha256.is_some() && subject.digest.sha256.as_deref() == wanted;
    if statement.subject.iter().any(is_about) {
        return Ok(key);
    }
    let named: Vec<&str> = statement.subject.iter().filter_map(|subject| subject.digest.sha256.as_deref()).collect();
    Err(SignatureError::Subject(hookbox::shorten(&named.join(", "), 200)))
}

/// The message of a DSSE signature: the pre-authentication encoding, which no other payload and type share.
fn message(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
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
    fn nothing_of_a_bundle_can_be_changed() {
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
        assert!(verify(b"{}", &digest, &[key.public()]).is_err());
    }
}
