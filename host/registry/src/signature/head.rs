//! Signed heads of chained records: a line that is stored apart from the records, to detect a truncated file.

use hookbox::chain::Head;

use super::{
    envelope::Envelope,
    error::SignatureError,
    key::{KeyError, PublicKey, SigningKey},
};

/// The type of the payload.
const HEAD: &str = "application/vnd.hookbox.records-head.v1+json";

/// Signs a head. Returns one line of JSON: a DSSE envelope.
///
/// # Errors
/// [`KeyError::Random`].
pub fn sign_head(key: &SigningKey, head: &Head) -> Result<String, KeyError> {
    let envelope = Envelope::sign(key, HEAD, &serde_json::json!(head).to_string())?;
    Ok(serde_json::json!(envelope).to_string())
}

/// Returns the head in a line that one of these keys signed.
///
/// # Errors
/// [`SignatureError`].
pub fn verify_head(line: &str, keys: &[PublicKey]) -> Result<Head, SignatureError> {
    let form = |error: String| SignatureError::Form(error);
    let value = hookbox::json::parse(line.as_bytes()).map_err(|error| form(error.to_string()))?;
    let envelope: Envelope = serde_json::from_value(value).map_err(|error| form(error.to_string()))?;
    let (_, payload) = envelope.open(HEAD, keys)?;
    serde_json::from_slice(&payload).map_err(|error| form(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use hookbox::chain::Chain;

    use super::{SigningKey, sign_head, verify_head};

    #[test]
    fn a_head_verifies_only_with_its_key() {
        let ((key, _), (other, _)) = (SigningKey::generate().unwrap(), SigningKey::generate().unwrap());
        let mut chain = Chain::default();
        chain.link("{}");
        let head = chain.head().unwrap();
        let line = sign_head(&key, &head).unwrap();
        assert_eq!(verify_head(&line, &[other.public(), key.public()]).unwrap(), head);
        assert!(verify_head(&line, &[other.public()]).is_err());
        assert!(verify_head(&line, &[]).is_err());
        // A signature of a hook does not count as a signature of a head.
        let bundle = super::super::bundle::sign(&key, &format!("sha256:{}", "a".repeat(64))).unwrap();
        let bundle: serde_json::Value = serde_json::from_slice(&bundle).unwrap();
        let error = verify_head(&bundle["dsseEnvelope"].to_string(), &[key.public()]).unwrap_err();
        assert!(error.to_string().contains("its payload is `application/vnd.in-toto+json`"), "{error}");
    }
}
