//! Settings of records.

use std::path::PathBuf;

use serde::Deserialize;

/// The names of the standard streams. Other values are files.
pub(super) const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// Settings of chained records.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChainSettings {
    /// The private key that signs heads (ECDSA on P-256, PKCS#8 in PEM).
    #[serde(default)]
    pub key: Option<PathBuf>,
    /// The file to which signed heads are appended. Store it elsewhere: a person who can change this file and the
    /// records can truncate both.
    #[serde(default)]
    pub heads: Option<PathBuf>,
}
