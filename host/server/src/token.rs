//! Bearer tokens: clients have the secret, files contain its hash.

use std::{collections::HashSet, fmt, sync::OnceLock};

use hookbox::sha256;
use serde::{Deserialize, Serialize, Serializer, de};
use subtle::ConstantTimeEq;

/// The random bytes of a token.
const BYTES: usize = 32;
/// The prefix of a token's hash in a file.
const PREFIX: &str = "sha256:";
/// Words that people use in place of a token, in examples or by mistake.
const WORDS: [&str; 40] = [
    "",
    "0",
    "1",
    "1234",
    "12345",
    "123456",
    "12345678",
    "123456789",
    "abc",
    "abc123",
    "acme",
    "admin",
    "bar",
    "baz",
    "bearer",
    "change-me",
    "changeme",
    "default",
    "demo",
    "example",
    "foo",
    "hello",
    "hookbox",
    "key",
    "letmein",
    "none",
    "null",
    "operator",
    "pass",
    "password",
    "placeholder",
    "qwerty",
    "root",
    "secret",
    "secrets",
    "tenant",
    "test",
    "testing",
    "token",
    "user",
];

/// A token in the form of files: its hash. A tenant may have two, so that one can replace the other.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token {
    /// The SHA-256 in hexadecimal.
    hash: String,
}

impl Token {
    /// Hashes the secret of a client.
    pub fn of(secret: &str) -> Self {
        Self { hash: sha256(secret) }
    }

    /// Creates a token. Returns the secret for the client and the hash for the file.
    ///
    /// # Errors
    /// The operating system has no randomness available.
    pub fn new() -> Result<(String, Self), getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        let secret = bytes.iter().fold(String::from("hbx_"), |text, byte| format!("{text}{byte:02x}"));
        let token = Self::of(&secret);
        Ok((secret, token))
    }

    /// Returns true for a token that is easy to guess: a common word, or a hash that was typed instead of computed.
    pub fn is_guessable(&self) -> bool {
        is_typed(&self.hash) || guessable().contains(&self.hash)
    }

    /// Returns true if it is one of these. The time does not depend on which one, or how much of it matches.
    pub fn is_among(&self, tokens: &[Self]) -> bool {
        let same = tokens
            .iter()
            .fold(subtle::Choice::from(0), |same, token| same | token.hash.as_bytes().ct_eq(self.hash.as_bytes()));
        same.into()
    }
}

/// Formats the token as in a file.
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

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = text.strip_prefix(PREFIX).map(str::to_ascii_lowercase);
        let token = hash
            .filter(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(|hash| Self { hash })
            // The message does not quote the text, which may be the secret.
            .ok_or_else(|| {
                de::Error::custom("expected `sha256:` and 64 hexadecimal digits; `hookbox token` prints a new one")
            })?;
        if token.is_guessable() {
            return Err(de::Error::custom(
                "this hash is a placeholder or the hash of a guessable word; `hookbox token` prints a new one",
            ));
        }
        Ok(token)
    }
}

/// The hashes of common words in several spellings, with and without the newline that `echo` adds.
fn guessable() -> &'static HashSet<String> {
    static HASHES: OnceLock<HashSet<String>> = OnceLock::new();
    HASHES.get_or_init(|| {
        let forms = WORDS.iter().flat_map(|word| {
            let upper = word.to_ascii_uppercase();
            let title = word.split_at_checked(1).map(|(first, rest)| first.to_ascii_uppercase() + rest);
            [(*word).to_owned(), upper].into_iter().chain(title)
        });
        forms.flat_map(|word| [sha256(format!("{word}\n")), sha256(word)]).collect()
    })
}

/// Returns true for 64 digits that a person would type: a repeated block, or few different digits. The probability for
/// a real hash is 2^-80.
fn is_typed(hash: &str) -> bool {
    let repeats = |block: &usize| hash.as_bytes().iter().zip(hash.as_bytes().iter().skip(*block)).all(|(a, b)| a == b);
    (1..=32).any(|block| repeats(&block)) || hash.bytes().collect::<HashSet<_>>().len() <= 4
}

/// The tokens of an operator or of a tenant.
pub(crate) type Tokens = Vec<Token>;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Token;

    #[test]
    fn a_token_is_distinguished_from_others() {
        let (secret, token) = Token::new().unwrap();
        let (other_secret, other) = Token::new().unwrap();
        assert!(secret.len() > 64 && secret != other_secret);
        assert!(Token::of(&secret).is_among(&[other.clone(), token]));
        assert!(!Token::of(&secret).is_among(&[other]));
        assert!(!Token::of("").is_among(&[]));
    }

    #[test]
    fn placeholders_and_hashes_of_words_are_refused() {
        let typed = [
            "0".repeat(64),
            "f".repeat(64),
            "deadbeef".repeat(8),
            "0123456789abcdef".repeat(4),
            // The hash of `test`, from an earlier version of the documentation, and of `echo token | sha256sum`.
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08".to_owned(),
            hookbox::sha256("token\n"),
            hookbox::sha256("Password"),
            hookbox::sha256("TOKEN"),
            hookbox::sha256(""),
        ];
        for hash in typed {
            let error = serde_json::from_value::<Token>(format!("sha256:{hash}").into()).unwrap_err().to_string();
            assert!(error.contains("hookbox token") && !error.contains(&hash), "{error}");
        }
        for _ in 0..100 {
            assert!(!Token::new().unwrap().1.is_guessable());
        }
        assert!(Token::of("test").is_guessable() && !Token::of("secret of acme").is_guessable());
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
