//! The events beside a configuration: `event.json` and the cases in `tests/*.yaml`, as `hookbox new` writes them.

use std::path::Path;

use hookbox::{
    Permissions,
    config::{Config, Diagnostic, Handler, HostSettings},
};

use crate::{
    commands::{
        host,
        test::case::{self, File},
    },
    user_file,
};

/// An event, and its name if its JSON does not carry it.
struct Sample {
    wire: Vec<u8>,
    name: Option<String>,
}

/// Calls the components with these events, without their grants: a check sends no requests and keeps no state.
///
/// Skips events of other dialects, which `hookbox test` reports.
pub async fn overreach(mut config: Config) -> anyhow::Result<Vec<Diagnostic>> {
    let samples = samples(config.file.parent().unwrap_or(Path::new("")), config.dialect.name());
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    config.hooks.retain(|hook| matches!(hook.handler, Handler::Wasm(_)));
    for hook in &mut config.hooks {
        if let Handler::Wasm(wasm) = &mut hook.handler {
            wasm.permissions = Permissions::default();
        }
    }
    config.settings = HostSettings::default();
    let hooks = host(config).await?;
    let mut found: Vec<Diagnostic> = Vec::new();
    for sample in samples {
        for diagnostic in hooks.overreach(&sample.wire, sample.name.as_deref()).await.unwrap_or_default() {
            if !found.iter().any(|known| known.pointer == diagnostic.pointer) {
                found.push(diagnostic);
            }
        }
    }
    Ok(found)
}

fn samples(folder: &Path, dialect: &str) -> Vec<Sample> {
    let event = user_file::read(&folder.join("event.json")).ok().flatten();
    let event = event.map(|wire| Sample { wire, name: None });
    let files = case::files(folder).unwrap_or_default();
    let files: Vec<File> = files.iter().filter_map(|path| File::read(path).ok()).collect();
    let cases = files.iter().flat_map(|file| &file.cases).filter(|case| case.is_for(dialect));
    let steps = cases
        .flat_map(|case| &case.steps)
        .map(|step| Sample { wire: step.wire.clone().into_bytes(), name: step.event_name.clone() });
    event.into_iter().chain(steps).collect()
}
