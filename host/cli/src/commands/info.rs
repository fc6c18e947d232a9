//! `hookbox info`: shows a hook in a registry before it is fetched.

use clap::Args;
use hookbox_registry::{ManifestInfo, Provenance, resolve};
use serde_json::json;

use super::block_on;
use crate::{exit::Exit, locks, print, registries};

/// Show a hook in a registry: its origin, its events and its permissions. Nothing is kept, and nothing
/// runs.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox info oci://registry.example/acme/guard:1.2")]
pub struct Info {
    /// The hook: `oci://HOST/REPOSITORY:TAG` or `oci://HOST/REPOSITORY@sha256:DIGEST`
    #[arg(value_name = "REF")]
    reference: String,
    /// Read its manifest alone: what its publisher says, and not what its bytes say
    #[arg(long)]
    manifest: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Info {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let reference = registries::reference(&self.reference)?;
        let (registry, trust) = registries::named(&reference)?;
        let (seen, resolved) = block_on(async {
            let seen = registry.inspect(&reference).await.map_err(registries::failed)?;
            if self.manifest {
                return Ok((seen, None));
            }
            // By its digest: a tag may have moved by now.
            let resolved =
                resolve(&registry, &reference.at(&seen.digest), &trust).await.map_err(registries::refused)?;
            Ok((seen, Some(resolved)))
        })?;
        if self.json {
            let component = resolved.as_ref().map(|resolved| &resolved.locked);
            let provenance = resolved.as_ref().and_then(|resolved| resolved.provenance.as_ref());
            let whole = json!({
                "reference": reference.to_string(), "digest": seen.digest, "manifest": seen.manifest,
                "component": component, "provenance": provenance,
            });
            print::json(&whole);
            return Ok(Exit::Ok);
        }
        let Some(resolved) = resolved else {
            manifest(&reference.to_string(), &seen);
            return Ok(Exit::Ok);
        };
        locks::show(&reference, &resolved.locked, true);
        print::out(format_args!("  manifest    {}", seen.digest));
        if let Some(Provenance { builder, source, workflow, .. }) = &resolved.provenance {
            let source = source.as_deref().map_or_else(|| "an unknown source".into(), print::quoted);
            let workflow = workflow.as_deref().map(|file| format!(", {}", print::name(file))).unwrap_or_default();
            print::out(format_args!("  built from  {source}{workflow}"));
            print::out(format_args!("  built by    {}", print::name(builder)));
        }
        notes(&seen);
        let may: Vec<String> = resolved.found.asks.iter().map(ToString::to_string).collect();
        if !may.is_empty() {
            print::out(format_args!("  to grant    \"permissions\": add {}", may.join(", ")));
        }
        Ok(Exit::Ok)
    }
}

/// Prints the content of a manifest.
fn manifest(reference: &str, seen: &ManifestInfo) {
    print::out(reference);
    print::out(format_args!("  component   {}   {} KB", seen.component.digest, seen.component.size.div_ceil(1024)));
    print::out(format_args!("  manifest    {}", seen.digest));
    notes(seen);
}

fn notes(seen: &ManifestInfo) {
    for (name, value) in &seen.manifest.annotations {
        print::out(format_args!("  {}   {}", print::name(name), print::quoted(value)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::locks::asks;

    #[test]
    fn requested_permissions_are_listed() {
        let imports: BTreeSet<String> = ["http", "wasi:filesystem/types"].map(str::to_owned).into();
        let lines = asks(&imports);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().any(|line| line.contains("send requests")), "{lines:?}");
        assert_eq!(asks(&BTreeSet::new()), ["for nothing"]);
    }
}
