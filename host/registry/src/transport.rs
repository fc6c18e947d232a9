//! Requests with size and time limits, authorization, and redirects to allowed hosts only.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use hookbox::{
    artifact::Reference,
    capability::{
        HttpError, HttpResponse,
        http::{Exchange, Reach},
    },
};
use url::Url;

use crate::{
    auth::{self, Challenge, Scope},
    client::Registry,
    error::RegistryError,
    hosts::authority,
};

/// The number of retries when the registry is busy. Each waits at most [`LONGEST_WAIT`].
const TRIES: u32 = 3;
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// One request to a registry.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'static str,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
    /// The maximum size of the response in bytes.
    pub(crate) limit: u64,
    /// The requested part, for error messages.
    pub(crate) what: &'static str,
    /// The access that the token must allow.
    pub(crate) scope: Scope<'a>,
}

impl<'a> Ask<'a> {
    pub(crate) fn get(url: Url, what: &'static str, limit: u64, reference: &'a Reference) -> Self {
        Self { method: "GET", url, headers: Vec::new(), body: None, limit, what, scope: Scope::pull(reference) }
    }
}

/// The host that serves a registry's name. Docker Hub's host differs from its name.
pub(crate) fn api_host(host: &str) -> &str {
    if host == "docker.io" { "registry-1.docker.io" } else { host }
}

impl Registry {
    /// A URL below `/v2/` of the registry of a reference.
    pub(crate) fn url(&self, reference: &Reference, path: &str) -> Result<Url, RegistryError> {
        let (host, scheme) = (api_host(reference.host()), self.hosts.scheme(reference.host()));
        let text = format!("{scheme}://{host}/v2/{}/{path}", reference.repository());
        Url::parse(&text).map_err(|error| RegistryError::Host { host: host.to_owned(), why: error.to_string() })
    }

    /// Sends a request, with credentials if the registry requires them. The status of the response is any except 401, 403 and
    /// 429.
    pub(crate) async fn send(&self, ask: Ask<'_>) -> Result<HttpResponse, RegistryError> {
        let host = authority(&ask.url);
        let mut authorization = self.tokens.lock().await.known(&ask.scope);
        for last in [false, true] {
            let response = self.unhurried(&ask, authorization.as_deref()).await?;
            match response.status {
                401 if !last => {
                    let challenge = auth::challenge(&response.headers);
                    authorization = Some(self.authorise(&ask, challenge).await?);
                }
                401 | 403 => {
                    let why =
                        if authorization.is_some() { "the credentials are not accepted" } else { "no credentials" };
                    let repository = ask.scope.repository.to_owned();
                    return Err(RegistryError::Refused {
                        host,
                        repository,
                        why: format!("{} ({why})", response.status),
                    });
                }
                _ => return Ok(response),
            }
        }
        Err(RegistryError::Refused { host, repository: ask.scope.repository.to_owned(), why: "401".into() })
    }

    /// Sends a request, with retries while the registry is busy.
    async fn unhurried(&self, ask: &Ask<'_>, authorization: Option<&str>) -> Result<HttpResponse, RegistryError> {
        for attempt in 1..=TRIES {
            let response = self.followed(ask, authorization).await?;
            if response.status != 429 {
                return Ok(response);
            }
            let seconds = header(&response, "retry-after").and_then(|seconds| seconds.trim().parse().ok());
            let wait = seconds.map_or(Duration::from_secs(u64::from(attempt)), Duration::from_secs);
            if attempt < TRIES && wait <= LONGEST_WAIT {
                tokio::time::sleep(wait).await;
            } else {
                break;
            }
        }
        Err(RegistryError::Busy { host: authority(&ask.url) })
    }

    /// Sends a request and follows its redirects (for reading requests only). Credentials are sent only to the first host.
    async fn followed(&self, ask: &Ask<'_>, authorization: Option<&str>) -> Result<HttpResponse, RegistryError> {
        let host = authority(&ask.url);
        let mut url = ask.url.clone();
        let first = self.reach(&url)?;
        let mut reach = first;
        for _ in 0..=self.bounds.redirects {
            let mut headers = ask.headers.clone();
            if let Some(value) = authorization.filter(|_| url.origin() == ask.url.origin()) {
                headers.push(("authorization".into(), value.to_owned()));
            }
            let response = self.exchange(ask, &url, reach, headers).await?;
            let reads = matches!(ask.method, "GET" | "HEAD");
            let to = header(&response, "location")
                .filter(|_| reads && matches!(response.status, 301 | 302 | 303 | 307 | 308));
            let Some(to) = to else { return Ok(response) };
            let next = url.join(to).map_err(|error| RegistryError::Connection {
                host: host.clone(),
                why: format!("invalid redirect: {error}"),
            })?;
            if url.scheme() == "https" && next.scheme() != "https" {
                return Err(RegistryError::Host {
                    host: authority(&next),
                    why: "a redirect from TLS to plain HTTP".into(),
                });
            }
            reach = self.reach(&next)?;
            // A public registry must not redirect to hosts that are allowed only under their own names.
            if first == Reach::Public && reach != Reach::Public {
                let why = format!("{host} redirects to this private address");
                return Err(RegistryError::Host { host: authority(&next), why });
            }
            url = next;
        }
        Err(RegistryError::Redirects { host, limit: self.bounds.redirects })
    }

    fn reach(&self, url: &Url) -> Result<Reach, RegistryError> {
        self.hosts.reach(url).map_err(|why| RegistryError::Host { host: authority(url), why })
    }

    async fn exchange(
        &self,
        ask: &Ask<'_>,
        url: &Url,
        reach: Reach,
        headers: Vec<(String, String)>,
    ) -> Result<HttpResponse, RegistryError> {
        let host = authority(url);
        let max_response = usize::try_from(ask.limit).unwrap_or(usize::MAX);
        let exchange = Exchange {
            reach,
            method: ask.method.into(),
            url: url.to_string(),
            headers,
            body: ask.body.clone(),
            max_response,
        };
        tracing::debug!(method = ask.method, host, path = url.path(), "registry");
        self.http.send(exchange).await.map_err(|error| match error {
            HttpError::TooLarge(_) => RegistryError::TooLarge { host, what: ask.what, limit: ask.limit },
            // The advice is for origins of hooks.
            HttpError::Denied(why) => {
                let fact = why.split_once(": to reach it, ").map_or(why.as_str(), |(fact, _)| fact);
                RegistryError::Host { host, why: fact.to_owned() }
            }
            HttpError::Failed(why) => RegistryError::Connection { host, why },
            HttpError::Timeout => RegistryError::Connection { host, why: "timed out".into() },
        })
    }

    /// Returns the value of `authorization` for a challenge.
    async fn authorise(&self, ask: &Ask<'_>, challenge: Option<Challenge>) -> Result<String, RegistryError> {
        let host = authority(&ask.url);
        let refused = |why: &str| RegistryError::Refused {
            host: host.clone(),
            repository: ask.scope.repository.to_owned(),
            why: why.to_owned(),
        };
        let credential = self.credentials.of(ask.scope.registry).await?;
        let value = match challenge {
            Some(Challenge::Basic) => {
                let credential = credential.ok_or_else(|| refused("it requires a name and a password"))?;
                format!("Basic {}", BASE64_STANDARD.encode(format!("{}:{}", credential.user, credential.secret)))
            }
            Some(Challenge::Bearer { realm, service }) => {
                let realm = Url::parse(&realm).map_err(|_| refused("its token service has an invalid URL"))?;
                let exchange = auth::token_request(&realm, service.as_deref(), &ask.scope, credential.as_ref());
                let reach = self.reach(&exchange.url)?;
                if self.reach(&ask.url)? == Reach::Public && reach != Reach::Public {
                    return Err(refused("its token service has a private address"));
                }
                let request = Ask {
                    method: exchange.method,
                    url: exchange.url.clone(),
                    headers: Vec::new(),
                    body: exchange.body,
                    limit: self.bounds.manifest,
                    what: "the token",
                    scope: ask.scope,
                };
                let response = self.exchange(&request, &exchange.url, reach, exchange.headers).await?;
                if response.status != 200 {
                    return Err(refused(&format!("its token service responds with {}", response.status)));
                }
                let token = auth::token(&response.body).ok_or_else(|| refused("its token service returns no token"))?;
                format!("Bearer {token}")
            }
            None => return Err(refused("401 without a supported challenge")),
        };
        self.tokens.lock().await.keep(&ask.scope, &value);
        Ok(value)
    }
}

/// The value of a header.
pub(crate) fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
    response.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}
