//! Content digests. Records name components by them, and the cache finds compiled components by them.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 digest in hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
