//! Docker's token authentication: challenges of registries, and requests for tokens.

use std::collections::HashMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use hookbox::artifact::Reference;
use serde::Deserialize;
use url::Url;

use crate::credentials::Credential;

/// The maximum size of a token in bytes.
const MAX_TOKEN: usize = 64 << 10;

/// The access that a token must allow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) registry: &'a str,
    pub(crate) repository: &'a str,
    actions: &'static str,
}

impl<'a> Scope<'a> {
    pub(crate) fn pull(reference: &'a Reference) -> Self {
        Self { registry: reference.host(), repository: reference.repository(), actions: "pull" }
    }

    pub(crate) fn push(reference: &'a Reference) -> Self {
        Self { actions: "pull,push", ..Self::pull(reference) }
    }

    fn key(&self) -> String {
        format!("{} {} {}", self.registry, self.repository, self.actions)
    }

    fn text(&self) -> String {
        format!("repository:{}:{}", self.repository, self.actions)
    }
}

/// Accepted values of `authorization`, by scope.
#[derive(Default)]
pub(crate) struct Tokens(HashMap<String, String>);

impl Tokens {
    pub(crate) fn known(&self, scope: &Scope<'_>) -> Option<String> {
        self.0.get(&scope.key()).cloned()
    }

    pub(crate) fn keep(&mut self, scope: &Scope<'_>, value: &str) {
        self.0.insert(scope.key(), value.to_owned());
    }
}

/// The kind of credentials that a registry requires.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// A name and a password.
    Basic,
    /// A token from this service.
    Bearer { realm: String, service: Option<String> },
}

/// Returns the first supported challenge of a response.
pub(crate) fn challenge(headers: &[(String, String)]) -> Option<Challenge> {
    let mut values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
    values.find_map(|(_, value)| parse(value))
}

fn parse(value: &str) -> Option<Challenge> {
    let (scheme, rest) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Challenge::Basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let (mut realm, mut service) = (None, None);
    let mut rest = rest;
    while let Some((key, after)) = rest.split_once('=') {
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        match key.trim().trim_start_matches(',').trim() {
            "realm" => realm = Some(value.to_owned()),
            "service" => service = Some(value.to_owned()),
            _ => {}
        }
        rest = after;
    }
    realm.map(|realm| Challenge::Bearer { realm, service })
}

/// A request for a token.
pub(crate) struct TokenRequest {
    pub(crate) method: &'static str,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
}

/// Builds the request for a token: POST for an identity token (OAuth 2), GET otherwise.
pub(crate) fn token_request(
    realm: &Url,
    service: Option<&str>,
    scope: &Scope<'_>,
    credential: Option<&Credential>,
) -> TokenRequest {
    let service = service.unwrap_or_default();
    if let Some(credential) = credential.filter(|credential| credential.is_identity_token()) {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token")
            .append_pair("service", service)
            .append_pair("client_id", "hookbox")
            .append_pair("scope", &scope.text())
            .append_pair("refresh_token", &credential.secret);
        let headers = vec![("content-type".into(), "application/x-www-form-urlencoded".into())];
        return TokenRequest { method: "POST", url: realm.clone(), headers, body: Some(form.finish().into_bytes()) };
    }
    let mut url = realm.clone();
    url.query_pairs_mut().append_pair("service", service).append_pair("scope", &scope.text());
    let basic = credential.map(|credential| {
        let value = BASE64_STANDARD.encode(format!("{}:{}", credential.user, credential.secret));
        ("authorization".to_owned(), format!("Basic {value}"))
    });
    TokenRequest { method: "GET", url, headers: basic.into_iter().collect(), body: None }
}

/// The token in a response.
pub(crate) fn token(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        token: Option<String>,
        access_token: Option<String>,
    }
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let token = answer.token.or(answer.access_token)?;
    let plain = token.len() <= MAX_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    (plain && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::{Challenge, parse, token};

    #[test]
    fn challenges_are_understood() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer { realm: realm.into(), service: service.map(str::to_owned) })
        };
        for (value, expected) in [
            ("Basic realm=\"x\"", Some(Challenge::Basic)),
            ("Bearer realm=\"https://a/t\",service=\"s\",scope=\"x:y,z\"", bearer("https://a/t", Some("s"))),
            ("bearer service=\"s\", realm=\"https://a/t\"", bearer("https://a/t", Some("s"))),
            ("Bearer realm=https://a/t", bearer("https://a/t", None)),
            ("Bearer realm=\"https://a", None),
            ("Bearer", None),
            ("Negotiate", None),
            ("", None),
        ] {
            assert_eq!(parse(value), expected, "{value}");
        }
    }

    #[test]
    fn a_token_is_one_word() {
        assert_eq!(token(br#"{"token":"abc"}"#).as_deref(), Some("abc"));
        assert_eq!(token(br#"{"access_token":"abc"}"#).as_deref(), Some("abc"));
        for body in [r#"{"token":"a\r\nb: c"}"#, r#"{"token":""}"#, "{}", "x"] {
            assert_eq!(token(body.as_bytes()), None, "{body}");
        }
    }
}
