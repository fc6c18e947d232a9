//! `hookbox digest`

use std::path::Path;

use anyhow::Context;
use clap::Args;
use hookbox::{artifact::SCHEME, sandbox::component::read, sha256};
use serde_json::json;

use super::block_on;
use crate::{exit::Exit, print, registries};

/// Print the digest of a hook in a registry (of its manifest), or of a file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox digest oci://registry.example/acme/guard:1.2")]
pub struct Digest {
    /// A reference, or a file
    #[arg(value_name = "REF")]
    what: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Digest {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let digest = if self.what.starts_with(SCHEME) {
            let reference = registries::reference(&self.what)?;
            let (registry, _) = registries::named(&reference)?;
            block_on(async { registry.inspect(&reference).await.map_err(registries::failed) })?.digest
        } else {
            format!("sha256:{}", sha256(read(Path::new(&self.what)).context(self.what)?))
        };
        print::out(&digest);
        print::result(&json!({ "digest": digest }));
        Ok(Exit::Ok)
    }
}
