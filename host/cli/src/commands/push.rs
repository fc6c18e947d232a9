//! `hookbox push`

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Context;
use clap::Args;
use hookbox::sandbox::component::{inspect, read};
use serde_json::json;

use super::block_on;
use crate::{exit::Exit, print, registries};

/// The prefix of the OCI's annotations about the origin of an image.
const PREFIX: &str = "org.opencontainers.image";

/// Push a hook to a registry.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox push guard.wasm oci://registry.example/acme/guard:1.2")]
pub struct Push {
    /// The component
    #[arg(value_name = "HOOK.wasm")]
    component: PathBuf,
    /// The place: `oci://HOST/REPOSITORY:TAG`
    #[arg(value_name = "REF")]
    reference: String,
    /// Its version, for readers (default: the tag)
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// The place of its source
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// Its licence, as an SPDX expression
    #[arg(long, value_name = "LICENCE")]
    licence: Option<String>,
    /// The place of its documentation
    #[arg(long, value_name = "URL")]
    documentation: Option<String>,
    /// Another note for its readers (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    annotation: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Push {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let reference = registries::reference(&self.reference)?;
        let Some(tag) = reference.tag().filter(|_| reference.digest().is_none()) else {
            return Err(Exit::Usage.error("push needs a tag, not a digest: `oci://HOST/REPOSITORY:TAG`"));
        };
        let mut annotations =
            BTreeMap::from([(format!("{PREFIX}.version"), self.version.unwrap_or_else(|| tag.into()))]);
        for (name, value) in
            [("source", self.source), ("licenses", self.licence), ("documentation", self.documentation)]
        {
            annotations.extend(value.map(|value| (format!("{PREFIX}.{name}"), value)));
        }
        for pair in &self.annotation {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| Exit::Usage.error(format!("`{pair}` is not NAME=VALUE")))?;
            annotations.insert(name.into(), value.into());
        }
        let bytes = read(&self.component).with_context(|| self.component.display().to_string())?;
        let found = inspect(&bytes).map_err(|error| {
            Exit::Config.advised(format!("{}: {error}", self.component.display()), &[&hookbox::remedy(&error)])
        })?;
        let (registry, _) = registries::named(&reference)?;
        let pushed = block_on(async {
            registry.push(&reference, &bytes, &found, annotations).await.map_err(registries::failed)
        })?;
        print::out(format_args!("{reference}@{}", pushed.digest));
        print::result(&json!({ "reference": reference.to_string(), "digest": pushed.digest }));
        Ok(Exit::Ok)
    }
}
