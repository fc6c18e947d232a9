//! Bearer tokens: what clients have, and what of it is kept.

use std::fmt;

use hookbox::sha256;
use serde::{Deserialize, de};
use subtle::ConstantTimeEq;

/// Random bytes of a token.
const BYTES: usize = 32;
/// What the hash of a token begins with in a file.
const PREFIX: &str = "sha256:";

/// A token as a file has it: its hash. Two tokens of a tenant are how one replaces the other.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token {
    /// SHA-256 in hexadecimal.
    hash: String,
}

impl Token {
    /// The token that a client has, hashed.
    pub fn of(secret: &str) -> Self {
        Self { hash: sha256(secret) }
    }

    /// A new token: what the client gets, and what the file gets.
    ///
    /// # Errors
    /// The operating system has no randomness to give.
    pub fn new() -> Result<(String, Self), getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        let secret = bytes.iter().fold(String::from("hbx_"), |text, byte| format!("{text}{byte:02x}"));
        let token = Self::of(&secret);
        Ok((secret, token))
    }

    /// Whether it is one of these, in a time that does not tell which, nor how much of it fits.
    pub fn is_among(&self, tokens: &[Self]) -> bool {
        let same = tokens
            .iter()
            .fold(subtle::Choice::from(0), |same, token| same | token.hash.as_bytes().ct_eq(self.hash.as_bytes()));
        same.into()
    }
}

/// As a file has it.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.hash)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = text.strip_prefix(PREFIX).map(str::to_ascii_lowercase);
        hash.filter(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(|hash| Self { hash })
            // Not the text itself: somebody may have written the secret here.
            .ok_or_else(|| {
                de::Error::custom("expected `sha256:` and 64 hexadecimal digits; `hookbox token` prints a new one")
            })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Token;

    #[test]
    fn a_token_is_told_from_others() {
        let (secret, token) = Token::new().unwrap();
        let (other_secret, other) = Token::new().unwrap();
        assert!(secret.len() > 64 && secret != other_secret);
        assert!(Token::of(&secret).is_among(&[other.clone(), token]));
        assert!(!Token::of(&secret).is_among(&[other]));
        assert!(!Token::of("").is_among(&[]));
    }

    #[test]
    fn a_file_has_the_hash() {
        let (secret, token) = Token::new().unwrap();
        let read: Token = serde_json::from_value(token.to_string().into()).unwrap();
        assert_eq!(read, Token::of(&secret));
        let error = serde_json::from_value::<Token>(secret.clone().into()).unwrap_err().to_string();
        assert!(error.contains("hookbox token") && !error.contains(&secret), "{error}");
    }
}
