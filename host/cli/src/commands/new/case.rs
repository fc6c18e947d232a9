//! A configuration and cases for a new hook. The expected output comes from the pipeline itself, with a handler that
//! responds like the template's hook.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use hookbox::{
    Callback, Config, Decision, Dialect, Event, EventContext, EventKind, HookOutput, HookSet, Request, Run, Runtime,
    Tenant, ToolCall, async_trait,
    dialect::ConfigShape,
    event::Input,
    handler::{Call, Handler},
};
use serde_json::{Value, json};

use super::{Project, template};
use crate::commands::{block_on, yaml};

/// The content of `hooks.json`.
pub fn configuration(project: &Project, dialect: &dyn Dialect) -> anyhow::Result<String> {
    let event = dialect.spec(project.event.kind).name;
    let component = format!("./{}.wasm", project.name);
    let entry = json!({ "type": "wasm", "component": component, "authority": authority(project.event.kind) });
    let hooks = match dialect.shape() {
        ConfigShape::Groups => json!({ event: [{ "hooks": [entry] }] }),
        ConfigShape::Flat => json!({ event: [entry] }),
        // Without a list of requests, it gets the events that it handles.
        ConfigShape::Named => json!({ project.name.as_str(): entry }),
    };
    pretty(&json!({ "dialect": dialect.name(), "failClosed": true, "hooks": hooks }))
}

/// The authority in the configuration. If the main purpose of an event's response is a rewrite, it allows rewrites.
fn authority(event: EventKind) -> Value {
    match event {
        EventKind::PostToolUse | EventKind::BeforeLlm | EventKind::AfterLlm => {
            json!({ "decide": ["deny", "ask"], "rewrite": "all", "context": true })
        }
        _ => json!("gate"),
    }
}

/// A sample event, and cases of which the first uses the same event.
pub struct SampleCases {
    /// The content of `event.json`.
    pub event: String,
    /// The event's name, if the client does not send it.
    pub named: Option<&'static str>,
    /// The content of `tests/cases.yaml`.
    pub cases: String,
}

/// Creates the sample event and the cases.
pub fn tried(project: &Project, dialect: &'static dyn Dialect) -> anyhow::Result<SampleCases> {
    let mut cases = Vec::new();
    if project.event.denies() {
        cases.push(case(project, dialect, &format!("denies {}", template::REFUSED), "rm -rf /")?);
    }
    cases.push(case(project, dialect, "makes no decision", "ls")?);
    let first = cases.first().context("a case")?;
    let texts: Vec<_> = cases.iter().map(Case::to_yaml).collect();
    Ok(SampleCases { event: format!("{}\n", first.event), named: first.named, cases: texts.join("\n") })
}

struct Case {
    name: String,
    dialect: &'static str,
    event: Value,
    named: Option<&'static str>,
    /// The JSON for the client.
    output: Value,
}

impl Case {
    fn to_yaml(&self) -> String {
        let Self { name, dialect, event, named, output } = self;
        let named = named.map(|name| format!("  eventName: {name}\n")).unwrap_or_default();
        let (event, output) = (yaml::value(event, 2, "event"), yaml::value(output, 4, "output"));
        format!("- name: {name}\n  dialect: {dialect}\n{named}  event:{event}\n  expect:\n    output:{output}\n")
    }
}

fn case(project: &Project, dialect: &'static dyn Dialect, name: &str, command: &str) -> anyhow::Result<Case> {
    let kind = project.event.kind;
    let (event, named) = event(project, dialect, command)
        .with_context(|| format!("no sample event {} of {}", kind.name(), dialect.name()))?;
    let wire = event.to_string();
    let output = block_on(async {
        let config = json!({ "dialect": dialect.name() }).to_string();
        let config = Config::parse(&config, Path::new("hooks.json"), None)?.config;
        let callback = Callback::of(dialect.spec(kind).name, Arc::new(Guard));
        let hooks = HookSet::builder(&Runtime::builder().build()?, Tenant::new("author"), config)
            .callback(callback)
            .load()
            .await?;
        let response = hooks.decide(Request::new(wire.as_bytes()).event_name(named)).await;
        if let Some(error) = response.error {
            anyhow::bail!(error.message);
        }
        Ok(response.verdict().and_then(|verdict| verdict.wire.clone()).unwrap_or_default())
    })?;
    Ok(Case { name: name.to_owned(), dialect: dialect.name(), event, named, output })
}

/// The event as a client would send it, and its name if the client does not send that.
fn event(project: &Project, dialect: &dyn Dialect, command: &str) -> Option<(Value, Option<&'static str>)> {
    let context = EventContext {
        session_id: Some("session-1".into()),
        cwd: Some("/home/dev/project".into()),
        ..EventContext::default()
    };
    // A matcher or a check of the name that works with the sample must work with the client too.
    let shell = dialect.also_called("Bash").first().copied().unwrap_or("Bash");
    let call = project.event.call.then(|| ToolCall::new(shell, json!({ "command": command })));
    let kind = project.event.kind;
    let mut wire = Value::clone(&Event::new(dialect, context, call, sample(kind)).raw);
    let spec = dialect.spec(kind);
    let named = |wire: &Value| {
        let reads = |name: Option<&'static str>| {
            let read = dialect.decode_event(wire.to_string().as_bytes(), name);
            read.is_ok_and(|read| read.kind() == kind)
        };
        [None, Some(spec.name)].into_iter().find(|name| reads(*name))
    };
    if named(&wire).is_none() {
        for field in spec.required {
            wire.as_object_mut()?.entry(*field).or_insert_with(|| json!("something"));
        }
    }
    let named = named(&wire)?;
    Some((wire, named))
}

/// A typical input of such an event.
fn sample(kind: EventKind) -> Input {
    let text = |text: &str| Some(text.to_owned());
    let mut input = Input::empty(kind);
    match &mut input {
        Input::SessionStart(event) => event.source = text("startup"),
        Input::UserPromptSubmit(event) => event.prompt = text("list the files"),
        Input::PostToolUse(event) => event.output = Some(json!({ "stdout": "README.md" }).into()),
        Input::PostToolUseFailure(event) => event.error = text("no such file"),
        Input::Notification(event) => event.message = text("waiting for an answer"),
        Input::SubagentStart(event) => event.agent_type = text("explorer"),
        Input::PreCompact(event) => event.trigger = text("manual"),
        Input::TaskCompleted(event) => event.task_subject = text("list the files"),
        Input::BeforeLlm(event) => {
            event.messages = Some(json!([{ "role": "user", "content": "list the files" }]).into());
        }
        Input::AfterLlm(event) => event.response = Some(json!({ "content": "README.md" }).into()),
        Input::AgentEvent(event) => event.kind = text("turn_start"),
        _ => {}
    }
    input
}

/// Responds like the template's hook.
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
