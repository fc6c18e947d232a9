//! The keys of a space on the server.

use std::fmt::Write;

use hookbox_sandbox::sha256;

use super::super::{ENTRY_BYTES, Space};

/// The names of a space on the server.
pub(super) struct Names {
    /// The keys for scripts: values and expiry times of the space, sizes and expiry times of the tenant's spaces.
    pub(super) keys: [String; 4],
    /// The name of the space in the tenant's keys.
    pub(super) space: String,
    /// The overhead of each entry of the space, in bytes.
    pub(super) entry_bytes: u64,
}

impl Names {
    /// Hashes the parts of a space with their lengths, so that different spaces get different names. The tenant's name
    /// stays readable, so that operators can find its keys.
    pub(super) fn of(space: &Space) -> Self {
        let mut tenant = String::new();
        for byte in space.tenant.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' => tenant.push(byte.into()),
                // Writing to a string cannot fail.
                _ => drop(write!(tenant, "%{byte:02X}")),
            }
        }
        let (namespace, session) = (space.namespace.to_string(), space.session.to_string());
        let digest = sha256(format!("{}:{namespace}{}:{session}", namespace.len(), session.len()));
        let of_space = |part: &str| format!("hookbox:{{{tenant}}}:{digest}:{part}");
        let of_tenant = |part: &str| format!("hookbox:{{{tenant}}}:{part}");
        Self {
            keys: [of_space("values"), of_space("ends"), of_tenant("sizes"), of_tenant("spaces")],
            entry_bytes: ENTRY_BYTES + (namespace.len() + session.len()) as u64,
            space: digest,
        }
    }
}
