//! A DSSE envelope: a payload with its type, and signatures over both.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use super::{
    error::SignatureError,
    key::{KeyError, PublicKey, SigningKey},
};

/// A DSSE envelope.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Envelope {
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

impl Envelope {
    /// Signs a payload.
    pub(super) fn sign(key: &SigningKey, payload_type: &str, payload: &str) -> Result<Self, KeyError> {
        let signature = key.sign(&message(payload_type, payload.as_bytes()))?;
        Ok(Self {
            payload: BASE64_STANDARD.encode(payload),
            payload_type: payload_type.to_owned(),
            signatures: vec![Signature { sig: BASE64_STANDARD.encode(signature), keyid: String::new() }],
        })
    }

    /// The key of several that signed, and the payload. Nothing of a payload is read before its signature is verified.
    ///
    /// # Errors
    /// [`SignatureError`]: another type, or none of the keys signed it.
    pub(super) fn open<'a>(
        &self,
        payload_type: &str,
        keys: &'a [PublicKey],
    ) -> Result<(&'a PublicKey, Vec<u8>), SignatureError> {
        let payload = self.payload(payload_type)?;
        let message = message(payload_type, &payload);
        // A bundle has exactly one signature, which also bounds the time for it.
        let [signature] = self.signatures.as_slice() else {
            return Err(SignatureError::Form(format!("it has {} signatures, not one", self.signatures.len())));
        };
        let signature = BASE64_STANDARD.decode(&signature.sig).map_err(|_| SignatureError::Key)?;
        let key = keys.iter().find(|key| key.verifies(&message, &signature)).ok_or(SignatureError::Key)?;
        Ok((key, payload))
    }

    /// The payload. Its signature is not verified.
    ///
    /// # Errors
    /// It is of another type, or not Base64.
    pub(super) fn payload(&self, payload_type: &str) -> Result<Vec<u8>, SignatureError> {
        if self.payload_type != payload_type {
            let found = hookbox::shorten(&self.payload_type, 80);
            return Err(SignatureError::Form(format!("its payload is `{found}`, not `{payload_type}`")));
        }
        BASE64_STANDARD.decode(&self.payload).map_err(|_| SignatureError::Form("its payload is not Base64".into()))
    }
}

/// The message of a DSSE signature: the pre-authentication encoding, which no other payload and type share.
fn message(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
