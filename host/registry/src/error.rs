//! Errors of registries.

use hookbox::artifact::ReferenceError;
use thiserror::Error;

/// An error of a registry. Only [`RegistryError::NotFound`] means that something does not
/// exist.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The reference is invalid.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// Connections to the host are not allowed.
    #[error("connections to {host} are not allowed: {why}")]
    Host {
        /// The host, with its port.
        host: String,
        /// The reason.
        why: String,
    },
    /// No connection, or an interrupted one.
    #[error("{host} does not respond: {why}")]
    Connection {
        /// The host, with its port.
        host: String,
        /// The reason.
        why: String,
    },
    /// The operation took too long.
    #[error("{host} did not finish within {seconds} s")]
    Time {
        /// The host, with its port.
        host: String,
        /// The limit in seconds.
        seconds: u64,
    },
    /// The response is too large.
    #[error("{what} of {host} is larger than {limit} bytes")]
    TooLarge {
        /// The host, with its port.
        host: String,
        /// The part, for example `the manifest`.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// Too many redirects.
    #[error("{host} redirects more than {limit} times")]
    Redirects {
        /// The host, with its port.
        host: String,
        /// The maximum number of redirects.
        limit: usize,
    },
    /// The bytes have another digest than the expected one.
    #[error("{what} has the digest {found}, not {wanted}")]
    Digest {
        /// The part, for example `the component`.
        what: &'static str,
        /// The expected digest.
        wanted: String,
        /// The digest of the received bytes.
        found: String,
    },
    /// It requires credentials, or rejects the given ones.
    #[error("{host} refuses access to {repository}: {why}")]
    Refused {
        /// The host, with its port.
        host: String,
        /// The repository.
        repository: String,
        /// Its reason.
        why: String,
    },
    /// The registry does not have it.
    #[error("{what} is not in {host}")]
    NotFound {
        /// The host, with its port.
        host: String,
        /// The part, with its name.
        what: String,
    },
    /// Too many requests.
    #[error("{host} refuses more requests now (429); try again later")]
    Busy {
        /// The host, with its port.
        host: String,
    },
    /// Any other status.
    #[error("{host} responds with {status} to {what}")]
    Status {
        /// The host, with its port.
        host: String,
        /// The HTTP status.
        status: u16,
        /// The request.
        what: String,
    },
    /// It is not a Wasm artifact with one component.
    #[error("{what} is not a Wasm artifact: {why}")]
    Artifact {
        /// The reference.
        what: String,
        /// The part that is wrong.
        why: String,
    },
    /// The credentials cannot be read.
    #[error("cannot read the credentials for {host}: {why}")]
    Credentials {
        /// The host.
        host: String,
        /// The reason.
        why: String,
    },
}

impl RegistryError {
    /// Returns true if the bytes are wrong: a retry does not help, and a person should investigate.
    pub fn is_forgery(&self) -> bool {
        matches!(self, Self::Digest { .. })
    }

    /// The remedy in one line, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Host { host, .. } => Some(format!(
                "to allow it, name it in registries.json of your configuration folder:   \
                 {{ \"registries\": {{ \"{host}\": {{ \"private\": true }} }} }}"
            )),
            Self::Refused { host, .. } => Some(format!("to log in   docker login {host}")),
            _ => None,
        }
    }
}
