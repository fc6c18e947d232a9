//! Why a registry could not be used.

use hookbox::artifact::ReferenceError;
use thiserror::Error;

/// Every way in which a registry can fail. None of them means that something does not exist, but
/// [`RegistryError::NotFound`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The reference is not one.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The host may not be reached.
    #[error("{host} may not be reached: {why}")]
    Host {
        /// The host, with its port.
        host: String,
        /// Why not.
        why: String,
    },
    /// No connection, or one that broke.
    #[error("{host} does not answer: {why}")]
    Connection {
        /// The host, with its port.
        host: String,
        /// Why not.
        why: String,
    },
    /// It was not done in time.
    #[error("{host} was not done within {seconds} s")]
    Time {
        /// The host, with its port.
        host: String,
        /// Seconds that it had.
        seconds: u64,
    },
    /// More bytes than are read.
    #[error("{what} of {host} is larger than {limit} bytes")]
    TooLarge {
        /// The host, with its port.
        host: String,
        /// The part, for example `the manifest`.
        what: &'static str,
        /// Bytes that are read at most.
        limit: u64,
    },
    /// It leads elsewhere too often, or in a circle.
    #[error("{host} redirects more than {limit} times")]
    Redirects {
        /// The host, with its port.
        host: String,
        /// Redirects that are followed at most.
        limit: usize,
    },
    /// The bytes are others than were asked for.
    #[error("{what} has the digest {found}, not {wanted}")]
    Digest {
        /// The part, for example `the component`.
        what: &'static str,
        /// The digest that was asked for.
        wanted: String,
        /// The digest of what came.
        found: String,
    },
    /// It asks for credentials, or refuses those that it got.
    #[error("{host} refuses access to {repository}: {why}")]
    Refused {
        /// The host, with its port.
        host: String,
        /// The repository.
        repository: String,
        /// Its reason.
        why: String,
    },
    /// It has no such thing.
    #[error("{what} is not in {host}")]
    NotFound {
        /// The host, with its port.
        host: String,
        /// The part, with its name.
        what: String,
    },
    /// It has had too many requests.
    #[error("{host} takes no more requests now (429); try again later")]
    Busy {
        /// The host, with its port.
        host: String,
    },
    /// Any other status.
    #[error("{host} answers {status} to {what}")]
    Status {
        /// The host, with its port.
        host: String,
        /// The HTTP status.
        status: u16,
        /// The request.
        what: String,
    },
    /// It is no component as hooks are kept.
    #[error("{what} is not a Wasm artifact: {why}")]
    Artifact {
        /// The reference.
        what: String,
        /// The part that is wrong.
        why: String,
    },
    /// Credentials could not be read.
    #[error("cannot read the credentials for {host}: {why}")]
    Credentials {
        /// The host.
        host: String,
        /// Why not.
        why: String,
    },
}

impl RegistryError {
    /// Returns true if the bytes are wrong: trying again changes nothing, and a person should look at it.
    pub fn is_forgery(&self) -> bool {
        matches!(self, Self::Digest { .. })
    }

    /// Advice, in one line, where there is any.
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
