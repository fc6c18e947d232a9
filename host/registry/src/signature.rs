//! Signatures of artifacts: Sigstore bundles (version 0.3), which `cosign` 3 and `hookbox sign` write beside an artifact.
//!
//! A bundle signs the digest of a manifest, which has the digest of the component. See `docs/supply-chain.md`.

mod attached;
mod bundle;
mod envelope;
mod error;
mod head;
mod key;
mod keyless;
mod policy;
mod provenance;
mod signer;

pub use error::SignatureError;
pub use head::{sign_head, verify_head};
pub use key::{KeyError, PublicKey, SigningKey};
pub use policy::{Mode, Policy, PolicyError, Publisher, Publishers, Trust};
pub use provenance::Provenance;
pub use signer::{Identity, Keyless, Signer, Verified};
