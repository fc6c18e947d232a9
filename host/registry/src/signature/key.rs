//! Keys: ECDSA on P-256 with SHA-256, as `cosign` makes them, in PEM. No other keys are accepted.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use hookbox::{private::open_regular, sha256};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey},
};
use thiserror::Error;

/// The DER of a `SubjectPublicKeyInfo` before the point: an EC key on P-256 (RFC 5480), of which the point has 65 bytes.
const SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// Bytes of an uncompressed point.
const POINT: usize = 65;
/// The maximum size of a key's file in bytes.
const MAX_FILE: u64 = 64 << 10;

/// An error of a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not PEM of this kind.
    #[error("not a PEM block `{0}`")]
    Pem(&'static str),
    /// The key is encrypted.
    #[error("the key is encrypted; decrypt it with `openssl pkey -in KEY -out hooks.key`")]
    Encrypted,
    /// It is encrypted in cosign's own format, which only cosign reads.
    #[error(
        "the key is encrypted by cosign; sign with `cosign sign --key KEY HOST/REPOSITORY@DIGEST`, or make a key for both \
         programs: docs/share.md"
    )]
    Cosign,
    /// The key is of another kind.
    #[error("the key is not ECDSA on P-256")]
    Kind,
    /// The system's random number generator failed.
    #[error("the system's random number generator failed")]
    Random,
    /// The file cannot be read.
    #[error("cannot read {}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
}

/// A public key, which verifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    point: Vec<u8>,
}

/// A private key, which signs.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl PublicKey {
    /// Reads a file with `-----BEGIN PUBLIC KEY-----`.
    ///
    /// # Errors
    /// [`KeyError`]
    pub fn read(file: &Path) -> Result<Self, KeyError> {
        Self::from_pem(&content(file)?)
    }

    /// Reads `-----BEGIN PUBLIC KEY-----`.
    ///
    /// # Errors
    /// [`KeyError`]
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let der = pem(text, "PUBLIC KEY")?;
        let point = der.strip_prefix(&SPKI[..]).filter(|point| point.len() == POINT && point.first() == Some(&4));
        point.map(|point| Self { point: point.to_vec() }).ok_or(KeyError::Kind)
    }

    /// The key in PEM.
    pub fn to_pem(&self) -> String {
        block("PUBLIC KEY", &self.der())
    }

    /// The name of the publisher with this key: `key:sha256:…`, the digest of its DER.
    pub fn publisher(&self) -> String {
        format!("key:sha256:{}", sha256(self.der()))
    }

    fn der(&self) -> Vec<u8> {
        [&SPKI[..], &self.point].concat()
    }

    /// The hint of a bundle: the SHA-256 of the DER in Base64, as `cosign` writes it.
    pub(super) fn hint(&self) -> String {
        let digest = ring::digest::digest(&ring::digest::SHA256, &self.der());
        BASE64_STANDARD.encode(digest)
    }

    /// Returns true if the key signed this message.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.point).verify(message, signature).is_ok()
    }
}

impl SigningKey {
    /// Reads a file with `-----BEGIN PRIVATE KEY-----` (PKCS#8).
    ///
    /// # Errors
    /// [`KeyError`]
    pub fn read(file: &Path) -> Result<Self, KeyError> {
        Self::from_pem(&content(file)?)
    }

    /// Reads `-----BEGIN PRIVATE KEY-----` (PKCS#8).
    ///
    /// # Errors
    /// [`KeyError`]
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        if ["SIGSTORE", "COSIGN"]
            .iter()
            .any(|label| text.contains(&format!("-----BEGIN ENCRYPTED {label} PRIVATE KEY")))
        {
            return Err(KeyError::Cosign);
        }
        if text.contains("ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &pem(text, "PRIVATE KEY")?, &random);
        Ok(Self { pair: pair.map_err(|_| KeyError::Kind)?, random })
    }

    /// Makes a new key, and its PEM.
    ///
    /// # Errors
    /// [`KeyError::Random`]
    pub fn generate() -> Result<(Self, String), KeyError> {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random);
        let text = block("PRIVATE KEY", der.map_err(|_| KeyError::Random)?.as_ref());
        Ok((Self::from_pem(&text)?, text))
    }

    /// The public key of this key.
    pub fn public(&self) -> PublicKey {
        PublicKey { point: self.pair.public_key().as_ref().to_vec() }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = self.pair.sign(&self.random, message).map_err(|_| KeyError::Random)?;
        Ok(signature.as_ref().to_vec())
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public().publisher()).finish_non_exhaustive()
    }
}

/// Reads a key's file. Pipes and devices are refused.
fn content(file: &Path) -> Result<String, KeyError> {
    let read = || {
        let mut text = String::new();
        open_regular(file)?.take(MAX_FILE).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error: io::Error| KeyError::File { file: file.to_owned(), why: error.to_string() })
}

/// The bytes of the only PEM block of this kind.
fn pem(text: &str, kind: &'static str) -> Result<Vec<u8>, KeyError> {
    let wrong = || KeyError::Pem(kind);
    let (_, rest) = text.split_once(&format!("-----BEGIN {kind}-----")).ok_or_else(wrong)?;
    let (body, after) = rest.split_once(&format!("-----END {kind}-----")).ok_or_else(wrong)?;
    if after.contains("-----BEGIN") {
        return Err(wrong());
    }
    let body: String = body.split_whitespace().collect();
    BASE64_STANDARD.decode(body).map_err(|_| wrong())
}

fn block(kind: &str, der: &[u8]) -> String {
    let body = BASE64_STANDARD.encode(der);
    let mut lines = String::new();
    for (at, letter) in body.chars().enumerate() {
        if at > 0 && at.is_multiple_of(64) {
            lines.push('\n');
        }
        lines.push(letter);
    }
    format!("-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{KeyError, PublicKey, SigningKey};

    #[test]
    fn keys_are_read_as_they_are_written() {
        let (key, text) = SigningKey::generate().unwrap();
        let again = SigningKey::from_pem(&text).unwrap();
        assert_eq!(key.public(), again.public());
        let public = PublicKey::from_pem(&key.public().to_pem()).unwrap();
        let signature = again.sign(b"message").unwrap();
        assert!(public.verifies(b"message", &signature));
        assert!(!public.verifies(b"massage", &signature));
        let (other, _) = SigningKey::generate().unwrap();
        assert!(!other.public().verifies(b"message", &signature));
    }

    #[test]
    fn other_keys_are_refused() {
        for (text, error) in [
            ("", KeyError::Pem("PRIVATE KEY")),
            ("-----BEGIN PRIVATE KEY-----\n%\n-----END PRIVATE KEY-----", KeyError::Pem("PRIVATE KEY")),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", KeyError::Kind),
            ("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----", KeyError::Cosign),
            ("-----BEGIN ENCRYPTED COSIGN PRIVATE KEY-----", KeyError::Cosign),
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----", KeyError::Encrypted),
            ("-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED", KeyError::Encrypted),
        ] {
            assert_eq!(SigningKey::from_pem(text).unwrap_err(), error, "{text}");
        }
        assert!(PublicKey::from_pem("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----").is_err());
    }
}
