//! Checks of a configuration that is not loaded.

use hookbox::config::Loaded;

use crate::{
    error::Error,
    finding::Finding,
    hook_set::HookSet,
    options::{LoadOptions, Source},
    runtime::Runtime,
};

/// Finds all faults of a configuration and its hooks.
///
/// # Errors
/// [`Code::Options`](crate::Code::Options), [`Code::Closed`](crate::Code::Closed)
pub async fn check(runtime: &Runtime, source: Source, options: LoadOptions) -> Result<Vec<Finding>, Error> {
    runtime.is_open()?;
    let Loaded { config, warnings, .. } = match options.read(&source, runtime.inner()) {
        Ok(loaded) => loaded,
        Err(error) => return findings_of(error),
    };
    let mut found: Vec<Finding> = warnings.iter().chain(&config.self_writes()).map(Finding::from).collect();
    let lazy = LoadOptions { lazy: true, ..options };
    match HookSet::of_config(runtime, config, lazy, Vec::new(), &[]).await {
        Ok(hooks) => found.extend(hooks.check().await?),
        Err(error) => found.extend(findings_of(error)?),
    }
    Ok(found)
}

/// The findings in an error about a configuration. Any other error is returned.
fn findings_of(error: Error) -> Result<Vec<Finding>, Error> {
    if error.findings.is_empty() { Err(error) } else { Ok(error.findings) }
}
