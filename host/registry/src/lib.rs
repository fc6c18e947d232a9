//! Hooks in OCI registries: push, pull, inspect, lock and verify them.
//!
//! This crate resolves names and opens connections; what decides on events does neither, and reads what is locked and
//! kept ([`hookbox::artifact`]). A registry is not trusted: every byte that it sends is bounded, in time too, and counts only
//! when its digest is the one that was asked for. Why it is a client of its own: `docs/adr/0017-registries.md`.

mod auth;
mod client;
mod credentials;
mod error;
mod hosts;
mod manifest;
mod pull;
mod push;
mod resolve;
mod signature;
mod time;
mod transport;

pub use client::{Bounds, Registry};
pub use credentials::{Credential, Credentials, DockerCredentials, NoCredentials, WrittenCredentials};
pub use error::RegistryError;
pub use hosts::{HostOptions, Hosts};
pub use manifest::{ARTIFACT_CONFIG, COMPONENT_LAYER, Descriptor, Manifest, WasmConfig};
pub use pull::{ManifestInfo, Pulled};
pub use push::Pushed;
pub use resolve::{Resolved, resolve};
pub use signature::{
    KeyError, Mode, Policy, PolicyError, Provenance, PublicKey, Publisher, Publishers, SignatureError, Signer,
    SigningKey, Trust, Verified, sign_head, verify_head,
};
