//! Hooks in OCI registries: push, pull, inspect, lock and verify them.
//!
//! This crate resolves names and opens connections. The code that decides on events does neither: it reads the lock and the
//! fetched components ([`hookbox::artifact`]). Registries are not trusted: the size and duration of every response are limited,
//! and its digest must be the expected one. `docs/adr/0017-registries.md` has the reasons for a separate client.

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
    Identity, KeyError, Keyless, Mode, Policy, PolicyError, Provenance, PublicKey, Publisher, Publishers,
    SignatureError, Signer, SigningKey, Trust, Verified, sign_head, verify_head,
};
