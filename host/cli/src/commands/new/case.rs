//! A configuration and a case to try a hook with. What the case expects comes from the pipeline itself, with a handler in
//! the hook's place that answers as the template does.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use hookbox::{
    Callback, Config, Decision, Dialect, Event, EventContext, EventKind, HookOutput, HookSet, Run, Runtime, Tenant,
    ToolCall, async_trait,
    dialect::{self, ConfigShape},
    event::{AgentEvent, Input},
    handler::{Call, Handler},
};
use serde_json::{Value, json};

use super::{Project, template};
use crate::commands::{block_on, yaml};

/// `hooks.json`.
pub fn configuration(project: &Project, dialect: &dyn Dialect) -> anyhow::Result<String> {
    let event = dialect.spec(project.event.kind).name;
    let entry = json!({ "type": "wasm", "component": format!("./{}.wasm", project.name) });
    let hooks = match dialect.shape() {
        ConfigShape::Groups => json!({ event: [{ "hooks": [entry] }] }),
        ConfigShape::Flat => json!({ event: [entry] }),
        // Without a list of requests, it gets what it handles.
        ConfigShape::Named => json!({ project.name.as_str(): entry }),
    };
    pretty(&json!({ "dialect": dialect.name(), "failClosed": true, "hooks": hooks }))
}

/// `event.json`, and a file of cases that begins with the same event.
pub fn cases(project: &Project, dialect: &'static dyn Dialect) -> anyhow::Result<(String, String)> {
    let mut cases = Vec::new();
    if project.event.denies() {
        cases.push(case(project, dialect, &format!("denies {}", template::REFUSED), "rm -rf /")?);
    }
    cases.push(case(project, dialect, "has nothing to say", "ls")?);
    let event = cases.first().map(|case| case.event.to_string()).unwrap_or_default();
    let cases: Vec<_> = cases.iter().map(Case::to_yaml).collect();
    Ok((event + "\n", cases.join("\n")))
}

struct Case {
    name: String,
    dialect: &'static str,
    event: Value,
    /// What the client is told.
    output: Value,
}

impl Case {
    fn to_yaml(&self) -> String {
        let Self { name, dialect, event, output } = self;
        let (event, output) = (yaml::value(event, 2, "event"), yaml::value(output, 4, "output"));
        format!("- name: {name}\n  dialect: {dialect}\n  event:{event}\n  expect:\n    output:{output}\n")
    }
}

fn case(project: &Project, dialect: &'static dyn Dialect, name: &str, command: &str) -> anyhow::Result<Case> {
    // An event that does not carry its name, or cannot be made up from what it must have, is tried as claude's is.
    let (dialect, event) = [Some(dialect), dialect::by_name("claude")]
        .into_iter()
        .flatten()
        .find_map(|dialect| Some((dialect, event(project, dialect, command)?)))
        .with_context(|| format!("no event {} to begin with", project.event.pascal()))?;
    let (kind, wire) = (project.event.kind, event.to_string());
    let output = block_on(async {
        let config = json!({ "dialect": dialect.name() }).to_string();
        let config = Config::parse(&config, Path::new("hooks.json"), None)?.config;
        let callback = Callback::of(dialect.spec(kind).name, Arc::new(Guard));
        let hooks = HookSet::builder(&Runtime::builder().build()?, Tenant::new("author"), config)
            .callback(callback)
            .load()
            .await?;
        Ok(hooks.dispatch(&wire).await?.wire.unwrap_or_default())
    })?;
    Ok(Case { name: name.to_owned(), dialect: dialect.name(), event, output })
}

/// The event as a client would send it.
fn event(project: &Project, dialect: &dyn Dialect, command: &str) -> Option<Value> {
    let context = EventContext {
        session_id: Some("session-1".into()),
        cwd: Some("/home/dev/project".into()),
        ..EventContext::default()
    };
    let call = project.event.call.then(|| ToolCall::new("Bash", json!({ "command": command })));
    let kind = project.event.kind;
    let input = match Input::empty(kind) {
        Input::AgentEvent(event) => Input::AgentEvent(AgentEvent { kind: Some("turn_start".into()), ..event }),
        input => input,
    };
    let mut wire = Value::clone(&Event::new(dialect, context, call, input).raw);
    for field in dialect.spec(kind).required {
        let fields = wire.as_object_mut()?;
        fields.entry(*field).or_insert_with(|| json!("something"));
    }
    let read = dialect.decode_event(wire.to_string().as_bytes(), None).ok()?;
    (read.kind() == kind).then_some(wire)
}

/// Answers as the template's hook does.
struct Guard;

#[async_trait]
impl Handler for Guard {
    async fn call(&self, call: Call<'_>) -> Run {
        let command = call.event.call.as_ref().and_then(|call| call.input.get("command")?.as_str());
        let refused =
            call.event.kind() == EventKind::PreToolUse && command.is_some_and(|text| text.contains(template::REFUSED));
        Run::new(Ok(if refused {
            HookOutput::decided(Decision::Deny, template::REASON)
        } else {
            HookOutput::default()
        }))
    }
}

fn pretty(value: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
