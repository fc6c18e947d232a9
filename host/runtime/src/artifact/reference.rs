//! References to components in registries: `oci://registry.example/acme/guard:1.2`.

use std::fmt;

use thiserror::Error;

/// The prefix of a reference.
pub const SCHEME: &str = "oci://";

/// The maximum length of a repository's path in characters, as in registries.
const MAX_REPOSITORY: usize = 255;
/// The maximum length of a tag in characters (OCI distribution specification, section "Pulling manifests").
const MAX_TAG: usize = 128;

/// A reference to a component in a registry: `oci://HOST[:PORT]/REPOSITORY[:TAG][@sha256:DIGEST]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    host: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// The error of an invalid reference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid reference `{text}`: {why}")]
#[non_exhaustive]
pub struct ReferenceError {
    /// The text.
    pub text: String,
    /// The invalid part.
    pub why: &'static str,
}

impl Reference {
    /// Parses a reference.
    ///
    /// # Errors
    /// The first invalid part. There are no defaults: a host, a repository, and a tag or a digest are required.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let wrong = |why| ReferenceError { text: hookbox_protocol::json::shorten(text, MAX_REPOSITORY), why };
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| wrong("it does not begin with `oci://`"))?;
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (rest, None),
        };
        if digest.is_some_and(|digest| digest.contains('/')) {
            return Err(wrong("it has no user and no password; credentials come from Docker's configuration"));
        }
        if digest.is_some_and(|digest| hex_of(digest).is_none()) {
            return Err(wrong("a digest is `sha256:` and 64 hexadecimal digits in lower case"));
        }
        let (host, path) =
            rest.split_once('/').ok_or_else(|| wrong("a repository has to follow the registry's host"))?;
        let (repository, tag) = match path.rsplit_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (path, None),
        };
        if !is_host(host) {
            return Err(wrong("the registry is a host name or an address, with a port if need be"));
        }
        if !is_repository(repository) {
            return Err(wrong("a repository is words of a-z, 0-9, `.`, `_` and `-`, divided by `/`"));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(wrong("a tag is at most 128 letters, digits, `.`, `_` and `-`"));
        }
        if tag.is_none() && digest.is_none() {
            return Err(wrong("it has neither a tag nor a digest; add one, as in `:1.0`"));
        }
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Ok(Self {
            host: host.to_ascii_lowercase(),
            repository: repository.to_owned(),
            tag: owned(tag),
            digest: owned(digest),
        })
    }

    /// The registry's host, with its port if there is one.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path of the repository within the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag, if there is one.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest of the manifest as `sha256:…`, if there is one.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The name to request from a registry: the digest, or else the tag.
    pub fn wanted(&self) -> &str {
        self.digest.as_deref().or(self.tag.as_deref()).unwrap_or_default()
    }

    /// The registry's host and the repository, without tag and digest. It stays the same in updates.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.repository)
    }

    /// The last word of the repository.
    pub fn short_name(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or(&self.repository)
    }

    /// The same component, referenced by the digest of its manifest.
    #[must_use]
    pub fn at(&self, digest: &str) -> Self {
        Self { tag: None, digest: Some(digest.to_owned()), ..self.clone() }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.host, self.repository)?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

/// The hexadecimal part of a digest such as `sha256:…`. `None` for other texts.
pub(super) fn hex_of(digest: &str) -> Option<&str> {
    let hex = digest.strip_prefix("sha256:")?;
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (hex.len() == 64 && hex.bytes().all(digit)).then_some(hex)
}

/// Returns true for a name, an IPv4 address or an IPv6 address in brackets, with an optional port. Rejects anything
/// else that a URL could contain.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) if address.parse::<std::net::Ipv6Addr>().is_ok() => (None, rest),
        Some(_) => return false,
        None => match text.split_once(':') {
            Some((host, _)) => (Some(host), text.get(host.len()..).unwrap_or_default()),
            None => (Some(text), ""),
        },
    };
    let word = |word: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !word.is_empty()
            && word.len() <= 63
            && word.bytes().all(plain)
            && !word.starts_with('-')
            && !word.ends_with('-')
    };
    let port =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    port && host.is_none_or(|host| host.len() <= 253 && host.split('.').all(word))
}

fn is_repository(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    let end = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let word = |word: &str| {
        let bytes = word.as_bytes();
        bytes.iter().copied().all(plain) && end(bytes.first()) && end(bytes.last())
    };
    text.len() <= MAX_REPOSITORY && text.split('/').all(word)
}

fn is_tag(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && text.len() <= MAX_TAG && text.bytes().all(plain) && !text.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Reference;

    #[test]
    fn references_round_trip() {
        let digest = format!("sha256:{}", "0f".repeat(32));
        for text in [
            "oci://registry.example/acme/command-guard:1.2".to_owned(),
            "oci://localhost:5000/guard:latest".to_owned(),
            "oci://[::1]:5000/a/b_c/d.e:V1".to_owned(),
            format!("oci://registry.example/acme/guard@{digest}"),
            format!("oci://registry.example/acme/guard:1@{digest}"),
        ] {
            assert_eq!(Reference::parse(&text).unwrap().to_string(), text);
        }
        let named = Reference::parse("oci://Registry.Example/acme/guard:1").unwrap();
        assert_eq!((named.name().as_str(), named.short_name()), ("registry.example/acme/guard", "guard"));
        assert_eq!(named.at(&digest).to_string(), format!("oci://registry.example/acme/guard@{digest}"));
    }

    #[test]
    fn incomplete_references_are_refused() {
        for text in [
            "registry.example/a:1",
            "oci://guard:1",
            "oci://registry.example/a",
            "oci://registry.example/:1",
            "oci://registry.example/../a:1",
            "oci://registry.example//a:1",
            "oci://registry.example/A:1",
            "oci://registry.example/a:",
            "oci://registry.example/a:.1",
            "oci://registry.example/a:1/b",
            "oci://registry.example/a:1@sha256:00",
            "oci://registry.example/a@sha512:00",
            "oci://user@registry.example/a:1",
            "oci://user:password@registry.example/a:1",
            "oci://registry.example:0/a:1",
            "oci://registry.example:99999/a:1",
            "oci://registry.example:80:80/a:1",
            "oci://registry example/a:1",
            "oci://[::1/a:1",
            "oci://[x]/a:1",
            "oci:///a:1",
            "oci://-a/b:1",
            "oci://registry.example/a?x=1:1",
            "oci://registry.example/a#x:1",
            "oci://registry.example/%2e%2e/a:1",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }
}
