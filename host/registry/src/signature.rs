//! Signatures of artifacts: Sigstore bundles (version 0.3), which `cosign` 3 and `hookbox sign` write beside an artifact.
//!
//! A bundle signs the digest of a manifest, which has the digest of the component. See `docs/supply-chain.md`.

mod attached;
mod bundle;
mod key;
mod policy;

pub use bundle::SignatureError;
pub use key::{KeyError, PublicKey, SigningKey};
pub use policy::{Mode, Policy, PolicyError, Publisher, Publishers, Trust};
