//! Revocations: digests and publishers whose components do not run, although they are locked and approved.

use std::io::{self, Read};

use hookbox_protocol::json::shorten;
use hookbox_sandbox::private::open_regular;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::reference::hex_of;
use crate::folders;

/// The name of the user's file about registries.
pub const REGISTRIES_FILE: &str = "registries.json";
/// Bytes of it at most.
const MAX_BYTES: u64 = 4 << 20;

/// Revoked digests, of components or manifests (`sha256:…`), and publishers (`key:sha256:…`, or
/// `IDENTITY (ISSUER)`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Revoked {
    /// Digests.
    #[serde(deserialize_with = "digests")]
    pub digests: Vec<String>,
    /// Publishers.
    #[serde(deserialize_with = "publishers")]
    pub publishers: Vec<String>,
}

/// Reads digests. One that is written in another way than in locks would revoke nothing.
fn digests<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    each(from, |digest| hex_of(digest).is_some(), "a digest: `sha256:` and 64 hexadecimal digits in lower case")
}

/// Reads publishers, which are written as in locks too.
fn publishers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let is_publisher = |publisher: &str| {
        let is_key = publisher.strip_prefix("key:").is_some_and(|digest| hex_of(digest).is_some());
        is_key || publisher.split_once(" (").is_some_and(|(_, issuer)| issuer.ends_with(')'))
    };
    each(from, is_publisher, "a publisher as locks name it: `key:sha256:…`, or `IDENTITY (ISSUER)`")
}

fn each<'de, D: Deserializer<'de>>(
    from: D,
    is_valid: impl Fn(&str) -> bool,
    what: &str,
) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    match words.iter().find(|word| !is_valid(word)) {
        Some(word) => Err(D::Error::custom(format!("`revoked`: `{}` is not {what}", shorten(word, 100)))),
        None => Ok(words),
    }
}

impl Revoked {
    /// Those of the user: `revoked` in `registries.json` of the configuration folder.
    ///
    /// # Errors
    /// The file exists but cannot be read. Its revocations are unknown, so nothing runs.
    pub fn of_user() -> io::Result<Self> {
        #[derive(Deserialize)]
        struct Whole {
            #[serde(default)]
            revoked: Revoked,
        }
        let Some(file) = folders::config().map(|folder| folder.join(REGISTRIES_FILE)) else {
            return Ok(Self::default());
        };
        let read = || {
            let open = match open_regular(&file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
                opened => opened?,
            };
            let mut bytes = Vec::new();
            open.take(MAX_BYTES).read_to_end(&mut bytes)?;
            let value = hookbox_protocol::json::parse(&bytes).map_err(io::Error::other)?;
            Ok(serde_json::from_value::<Whole>(value)?.revoked)
        };
        read().map_err(|error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
    }

    /// The digest or the publisher that is revoked, if one of these is.
    pub fn find<'a>(&self, digests: [&'a str; 2], publisher: Option<&'a str>) -> Option<&'a str> {
        let digest = digests.into_iter().find(|digest| self.digests.iter().any(|revoked| revoked == digest));
        digest.or_else(|| publisher.filter(|publisher| self.publishers.iter().any(|revoked| revoked == publisher)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::Revoked;

    #[test]
    fn a_revocation_that_would_revoke_nothing_is_invalid() {
        let hex = "ab".repeat(32);
        let read = |key: &str, word: String| serde_json::from_value::<Revoked>(json!({ key: [word] }));
        for word in [hex.clone(), format!("SHA256:{hex}"), format!("sha256:{}", hex.to_uppercase()), "sha256:ab".into()]
        {
            assert!(read("digests", word.clone()).is_err(), "{word}");
        }
        for word in [format!("sha256:{hex}"), format!("key:{hex}"), "release@acme.example".into(), String::new()] {
            assert!(read("publishers", word.clone()).is_err(), "{word}");
        }
        read("digests", format!("sha256:{hex}")).unwrap();
        read("publishers", format!("key:sha256:{hex}")).unwrap();
        read("publishers", "https://github.com/acme/* (https://issuer.example)".into()).unwrap();
    }
}
