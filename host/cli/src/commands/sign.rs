//! `hookbox sign`

use std::path::{Path, PathBuf};

use clap::Args;
use hookbox_registry::SigningKey;
use serde_json::json;

use super::block_on;
use crate::{exit::Exit, print, registries};

/// Sign a hook in a registry with a key, as `cosign` 3 does: a Sigstore bundle beside it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  hookbox sign oci://registry.example/acme/guard:1.2 --key hooks.key\n\nA key, and its public half for those who verify:\n  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out hooks.key\n  openssl pkey -in hooks.key -pubout -out hooks.pub"
)]
pub struct Sign {
    /// The hook: `oci://HOST/REPOSITORY:TAG` or `oci://HOST/REPOSITORY@sha256:DIGEST`
    #[arg(value_name = "REF")]
    reference: String,
    /// The private key: ECDSA on P-256, PKCS#8 in PEM, without a password
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sign {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let reference = registries::reference(&self.reference)?;
        let (registry, _) = registries::named(&reference)?;
        let key = signing_key(&self.key)?;
        let digest = block_on(async {
            let seen = registry.inspect(&reference).await.map_err(registries::failed)?;
            registry.sign(&reference, &seen, &key).await.map_err(registries::failed)?;
            Ok(seen.digest)
        })?;
        let publisher = key.public().publisher();
        print::out(format_args!("{digest} signed by {publisher}"));
        print::result(&json!({ "reference": reference.to_string(), "digest": digest, "publisher": publisher }));
        Ok(Exit::Ok)
    }
}

/// Reads a private key.
pub(super) fn signing_key(file: &Path) -> anyhow::Result<SigningKey> {
    SigningKey::read(file).map_err(|error| Exit::Config.error(format!("{}: {error}", file.display())))
}
