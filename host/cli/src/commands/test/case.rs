//! Files of cases, as authors write them.

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
/// The folder does not exist or cannot be read.
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
    /// The location of each case in the text.
    pub places: Vec<Node>,
}

/// A sequence of events with separate state, which no other case shares.
#[derive(Debug)]
pub struct Case {
    /// The name, which says what the case shows.
    pub name: String,
    /// The index in the file.
    pub index: usize,
    dialect: Option<String>,
    configuration: Map<String, Value>,
    config: Option<Value>,
    permissions: Option<Value>,
    /// The initial state of its hooks.
    pub state: BTreeMap<String, String>,
    /// The stubs for HTTP servers.
    pub http: Option<Vec<HttpStub>>,
    /// The stubs for the model.
    pub llm: Option<Vec<LlmStub>>,
    pub steps: Vec<Step>,
}

/// One event and the expected result.
#[derive(Debug)]
pub struct Step {
    /// The event, as the client sends it.
    pub wire: String,
    /// The event's name, for clients that do not send it.
    pub event_name: Option<String>,
    pub expect: Expect,
}

/// A case as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenCase {
    name: String,
    /// The dialect. Default: the configuration's.
    dialect: Option<String>,
    /// Keys that override those of the configuration.
    #[serde(default)]
    configuration: Map<String, Value>,
    /// The `config` of the hook, which overrides the configuration's.
    config: Option<Value>,
    /// The permissions of the hook, which override the configuration's.
    permissions: Option<Value>,
    #[serde(default)]
    state: BTreeMap<String, Value>,
    /// The expected HTTP requests, with their responses. Without it, requests are sent to the real servers.
    http: Option<Vec<HttpStub>>,
    /// The expected questions to the model, with their answers. Without it, the real model is used.
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
    /// … or its recorded text.
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

    /// The location of a case: file and line.
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
                    "{name:?} has `events`: there must be at least one, and the keys of an event belong in its entry"
                ));
            }
        };
        let steps = steps.into_iter().map(Step::new).collect::<Result<_, _>>();
        let steps = steps.map_err(|why| format!("{name:?}: {why}"))?;
        let state = state.into_iter().map(|(key, value)| (key, text(value))).collect();
        Ok(Self { name, index, dialect, configuration, config, permissions, state, http, llm, steps })
    }

    /// Returns true if the case uses the configuration unchanged, and the configuration has this dialect.
    pub fn is_for(&self, dialect: &str) -> bool {
        let own = self.config.is_some() || self.permissions.is_some() || !self.configuration.is_empty();
        !own && self.dialect.as_deref().is_none_or(|own| own == dialect)
    }

    /// The configuration for the case.
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
            _ => return Err("it needs either an `event` or its recorded `line`".into()),
        };
        Ok(Self { wire, event_name: step.event_name, expect: step.expect })
    }
}

/// Sets these keys in every component of a configuration.
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

/// State values are text, so a number is converted.
pub fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => value.to_string(),
    }
}
