//! Files of cases: what is asked of a hook, as its author wrote it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    expect::Expect,
    stub::{HttpStub, LlmStub},
    update::{Node, places},
};
use crate::{exit::Exit, user_file};

/// The files of cases of a hook's folder (`tests/*.yaml`), sorted by name.
///
/// # Errors
/// There is no such folder, or it cannot be read.
pub fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = folder.join("tests");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let entries = entries.collect::<Result<Vec<_>, _>>().with_context(|| folder.display().to_string())?;
    let is_cases = |path: &PathBuf| path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    let mut files: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(is_cases).collect();
    files.sort();
    Ok(files)
}

/// A file of cases.
pub struct File {
    pub path: PathBuf,
    pub text: String,
    pub cases: Vec<Arc<Case>>,
    /// Where each of them is in the text.
    pub places: Vec<Node>,
}

/// Events that are told one after the other, with a state of their own: no case sees another's.
#[derive(Debug)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Its place in the file.
    pub index: usize,
    dialect: Option<String>,
    configuration: Map<String, Value>,
    config: Option<Value>,
    permissions: Option<Value>,
    /// What its hooks' state begins with.
    pub state: BTreeMap<String, String>,
    /// In place of HTTP servers.
    pub http: Option<Vec<HttpStub>>,
    /// In place of the model.
    pub llm: Option<Vec<LlmStub>>,
    pub steps: Vec<Step>,
}

/// One event, and what it must lead to.
#[derive(Debug)]
pub struct Step {
    /// As the client sends it.
    pub wire: String,
    /// For clients that do not send it.
    pub event_name: Option<String>,
    pub expect: Expect,
}

/// A case as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenCase {
    name: String,
    /// Instead of the configuration's.
    dialect: Option<String>,
    /// Keys of the configuration, instead of those it has.
    #[serde(default)]
    configuration: Map<String, Value>,
    /// The `config` of the hook, instead of the configuration's.
    config: Option<Value>,
    /// What the hook is granted, instead of the configuration's.
    permissions: Option<Value>,
    #[serde(default)]
    state: BTreeMap<String, Value>,
    /// HTTP requests that its hooks send, with their answers; without it they are sent.
    http: Option<Vec<HttpStub>>,
    /// Questions that its hooks ask the model, with their answers; without it the model is asked.
    llm: Option<Vec<LlmStub>>,
    /// Several events…
    events: Option<Vec<WrittenStep>>,
    /// … or one.
    event: Option<Value>,
    line: Option<String>,
    event_name: Option<String>,
    #[serde(default)]
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenStep {
    /// The event's JSON…
    event: Option<Value>,
    /// … or its text as it was recorded.
    line: Option<String>,
    event_name: Option<String>,
    #[serde(default)]
    expect: Expect,
}

impl File {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = user_file::read(path)?.with_context(|| format!("{} does not exist", path.display()))?;
        let text = String::from_utf8(text).with_context(|| path.display().to_string())?;
        let wrong = |why: String| Exit::Usage.error(format!("{}: {why}", path.display()));
        let written: Vec<WrittenCase> = serde_norway::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if written.is_empty() {
            return Err(wrong("it has no cases".into()));
        }
        let cases = written.into_iter().enumerate().map(|(index, case)| Case::new(index, case).map(Arc::new));
        let cases = cases.collect::<Result<_, _>>().map_err(&wrong)?;
        let places = places(&text).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { path: path.to_owned(), text, cases, places })
    }

    /// Where a case is: file and line.
    pub fn place(&self, case: &Case) -> String {
        format!("{}:{}", self.path.display(), self.places.get(case.index).map_or(0, |place| place.line))
    }
}

impl Case {
    fn new(index: usize, case: WrittenCase) -> Result<Self, String> {
        let WrittenCase { name, dialect, configuration, config, permissions, state, http, llm, .. } = case;
        let one = WrittenStep { event: case.event, line: case.line, event_name: case.event_name, expect: case.expect };
        let steps = match case.events {
            None => vec![one],
            Some(steps) if !steps.is_empty() && one.event.is_none() && one.line.is_none() && one.expect.is_empty() => {
                steps
            }
            Some(_) => {
                return Err(format!(
                    "{name:?} has `events`: what belongs to one of them stands below it, and there is one at least"
                ));
            }
        };
        let steps = steps.into_iter().map(Step::new).collect::<Result<_, _>>();
        let steps = steps.map_err(|why| format!("{name:?}: {why}"))?;
        let state = state.into_iter().map(|(key, value)| (key, text(value))).collect();
        Ok(Self { name, index, dialect, configuration, config, permissions, state, http, llm, steps })
    }

    /// Returns true if it runs under the configuration as it is, which is one of this dialect.
    pub fn is_for(&self, dialect: &str) -> bool {
        let own = self.config.is_some() || self.permissions.is_some() || !self.configuration.is_empty();
        !own && self.dialect.as_deref().is_none_or(|own| own == dialect)
    }

    /// The configuration that it runs under.
    pub fn configuration(&self, shipped: &Map<String, Value>) -> String {
        let mut settings = shipped.clone();
        settings.extend(self.configuration.clone());
        settings.extend(self.dialect.clone().map(|dialect| ("dialect".to_owned(), dialect.into())));
        let own = [("config", &self.config), ("permissions", &self.permissions)];
        let own: Vec<_> = own.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
        let mut settings = Value::Object(settings);
        give(&mut settings, &own);
        settings.to_string()
    }
}

impl Step {
    fn new(step: WrittenStep) -> Result<Self, String> {
        let wire = match (step.event, step.line) {
            (Some(event), None) => event.to_string(),
            (None, Some(line)) => line,
            _ => return Err("it needs an `event`, or its recorded `line`, and not both".into()),
        };
        Ok(Self { wire, event_name: step.event_name, expect: step.expect })
    }
}

/// Sets these keys of every component in a configuration.
fn give(settings: &mut Value, own: &[(&str, &Value)]) {
    match settings {
        Value::Object(fields) if fields.get("component").is_some_and(Value::is_string) => {
            fields.extend(own.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| give(value, own)),
        Value::Array(values) => values.iter_mut().for_each(|value| give(value, own)),
        _ => {}
    }
}

/// State is text: a number is written out.
pub fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => value.to_string(),
    }
}
