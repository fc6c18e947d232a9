//! `hookbox pull`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::block_on;
use crate::{exit::Exit, print, registries, user_file};

/// Pull a hook from a registry into a file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox pull oci://registry.example/acme/guard:1.2 -o guard.wasm")]
pub struct Pull {
    /// The hook: `oci://HOST/REPOSITORY:TAG` or `oci://HOST/REPOSITORY@sha256:DIGEST`
    #[arg(value_name = "REF")]
    reference: String,
    /// The file; the last word of the repository with `.wasm` when left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Pull {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let reference = registries::reference(&self.reference)?;
        let (registry, _) = registries::named(&reference)?;
        let pulled = block_on(async { registry.pull(&reference).await.map_err(registries::failed) })?;
        let file = self.output.unwrap_or_else(|| format!("{}.wasm", reference.short_name()).into());
        user_file::replace(&file, &pulled.component)?;
        let digest = pulled.seen.component.digest;
        print::out(format_args!("{}   {digest}", file.display()));
        print::result(&json!({ "file": file.to_string_lossy(), "digest": digest, "manifest": pulled.seen.digest }));
        Ok(Exit::Ok)
    }
}
