//! The cases beside a configuration, run with the components before and after an update.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use hookbox::{ComponentSource, LoadError, Runtime, Wanted, artifact::Reference, async_trait, sandbox::component};
use serde_json::{Map, Value};

use super::{
    case::{self, File},
    run::run,
    state::CaseStates,
};

/// In the configuration of a case, this prefix and a reference name a component of [`Replaced`].
const REPLACED: &str = "update/";

/// Components by reference. Any other component is the file of its name.
pub type Components = BTreeMap<String, Vec<u8>>;

struct Replaced(Components);

#[async_trait]
impl ComponentSource for Replaced {
    async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError> {
        let replaced = wanted.name.strip_prefix(REPLACED).and_then(|reference| self.0.get(reference));
        replaced.map_or_else(|| component::read(wanted.file), |bytes| Ok(bytes.clone()))
    }
}

/// A case, and whether it passed with each component.
pub struct Compared {
    pub name: String,
    pub before: bool,
    pub after: bool,
}

/// Runs the cases in `tests/` beside a configuration with either components. Nothing leaves the sandbox: the new component
/// is not approved yet, so requests go to the stubs of the case alone, and no program is started.
pub async fn compare(config: &Path, before: Components, after: Components) -> anyhow::Result<Vec<Compared>> {
    let folder = config.parent().unwrap_or(Path::new(""));
    let files: Vec<PathBuf> = case::files(folder).unwrap_or_default();
    let files = files.iter().map(|path| File::read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let before = passed(config, &files, before).await?;
    let after = passed(config, &files, after).await?;
    let names = files.iter().flat_map(|file| &file.cases).map(|case| case.name.clone());
    Ok(names.zip(before).zip(after).map(|((name, before), after)| Compared { name, before, after }).collect())
}

async fn passed(config: &Path, files: &[File], components: Components) -> anyhow::Result<Vec<bool>> {
    let text = fs::read_to_string(config).with_context(|| config.display().to_string())?;
    let mut settings: Map<String, Value> = serde_json::from_str(&text).with_context(|| config.display().to_string())?;
    settings.values_mut().for_each(|value| replace(value, &components));
    let stories = CaseStates::new()?;
    let runtime = Runtime::builder()
        .compiler(crate::commands::compiler())
        .state(stories.clone())
        .components(Replaced(components))
        .build()?;
    let mut passed = Vec::new();
    for (number, case) in files.iter().flat_map(|file| &file.cases).enumerate() {
        let settings = case.configuration(&settings);
        // As an untrusted configuration.
        let went = run(&runtime, &stories, number, case, (&settings, config), Some("")).await;
        passed.push(went.is_ok_and(|went| went.steps.iter().all(|step| step.differences.is_empty())));
    }
    Ok(passed)
}

/// Names the replaced components in place of references.
fn replace(value: &mut Value, components: &Components) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let reference = value.as_str().filter(|_| key == "component");
                let reference = reference.and_then(|text| Reference::parse(text).ok()).map(|found| found.to_string());
                match reference.filter(|reference| components.contains_key(reference)) {
                    Some(reference) => *value = format!("{REPLACED}{reference}").into(),
                    None => replace(value, components),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, components)),
        _ => {}
    }
}
