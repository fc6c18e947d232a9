//! Revocations: digests and publishers whose components do not run, although they are locked and approved.

use std::io::{self, Read};

use hookbox_sandbox::private::open_regular;
use serde::Deserialize;

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
    pub digests: Vec<String>,
    /// Publishers.
    pub publishers: Vec<String>,
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
