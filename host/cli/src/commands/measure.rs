//! Measures calls of one component, for `hookbox bench` and the advice of `hookbox inspect`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use hookbox::{
    Config, Dialect, HookSet, Request, Runtime, Tenant,
    config::ConfigErrors,
    dialect::{self, ConfigShape},
    sandbox::{
        Grant,
        component::{Inspection, inspect},
    },
};
use serde_json::{Value, json};

use super::{event, scratch::Scratch};
use crate::exit::Exit;

/// The number of warm-up calls.
const WARM: usize = 5;

/// The component to measure, and how to call it.
pub struct Measured<'a> {
    pub component: &'a Path,
    pub event: &'a Path,
    /// The event's name, if its JSON does not carry it.
    pub name: Option<&'a str>,
    /// The configuration that names the component. Without one, it gets every grant and authority that it needs.
    pub config: Option<&'a Path>,
    pub dialect: Option<&'a str>,
    pub runs: usize,
}

/// The measurements.
pub struct Calls {
    pub event: String,
    pub dialect: &'static str,
    /// The time of each call, including the creation and removal of its sandbox.
    pub times: Vec<Duration>,
    /// The highest fuel of any call.
    pub fuel: u64,
    /// The highest linear memory of any call, in bytes.
    pub memory: u64,
    /// The outcome of the last call, in one word.
    pub decision: &'static str,
}

impl Measured<'_> {
    /// Runs and measures the calls.
    ///
    /// # Errors
    /// A call failed, or the component did not run.
    pub async fn run(&self) -> anyhow::Result<Calls> {
        let bytes = fs::read(self.component).with_context(|| self.component.display().to_string())?;
        let unusable = |why: String| Exit::Config.error(format!("{}: {why}", self.component.display()));
        let found = inspect(&bytes).map_err(|error| {
            Exit::Config.advised(format!("{}: {error}", self.component.display()), &[&hookbox::remedy(&error)])
        })?;
        let wire = fs::read(self.event).with_context(|| self.event.display().to_string())?;
        let config = if let Some(file) = self.config {
            Config::load(file, self.dialect)
        } else {
            let (settings, file) = self.settings(&found, &wire)?;
            Config::parse(&settings, &file, None)
        };
        let config = config.map_err(|errors: ConfigErrors| anyhow::Error::new(errors))?.config;

        let state = Scratch::new("measure")?;
        let runtime = Runtime::builder().compiler(super::compiler()).state(state.store()).build()?;
        let hooks = HookSet::load(&runtime, Tenant::new("measure"), config).await?;
        let mut calls = Calls {
            event: String::new(),
            dialect: hooks.dialect().name(),
            times: Vec::with_capacity(self.runs),
            fuel: 0,
            memory: 0,
            decision: "",
        };
        for number in 0..WARM + self.runs {
            let response = hooks.decide(Request::new(&wire).event_name(self.name)).await;
            let verdict = match (&response.error, response.verdict()) {
                (None, Some(verdict)) => verdict,
                (error, _) => {
                    let why = error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
                    return Err(Exit::Data.error(format!("{}: {why}", self.event.display())));
                }
            };
            let mut ran = verdict.hooks.iter().filter(|hook| hook.digest.as_deref() == Some(&found.digest));
            let Some((hook, run)) = ran.find_map(|hook| Some((hook, hook.run()?))) else {
                return Err(unusable(format!("it is not called for {}: see `hookbox explain`", verdict.event)));
            };
            if let Err(failure) = &run.result {
                return Err(unusable(format!("the hook failed: {failure}")));
            }
            calls.event.clone_from(&verdict.event);
            calls.decision = hook.word();
            calls.fuel = calls.fuel.max(run.fuel.unwrap_or_default());
            calls.memory = calls.memory.max(run.memory.unwrap_or_default());
            if number >= WARM {
                calls.times.push(run.time);
            }
        }
        calls.times.sort();
        Ok(calls)
    }

    /// A configuration with this hook on this event, and the path that it would have.
    fn settings(&self, found: &Inspection, wire: &[u8]) -> anyhow::Result<(String, PathBuf)> {
        let name = self.dialect.unwrap_or("claude");
        let dialect = dialect::by_name(name)
            .ok_or_else(|| Exit::Usage.error(format!("unknown dialect `{name}`: see `hookbox schema`")))?;
        if found.asks.iter().any(|grant| !matches!(grant, Grant::State)) {
            return Err(Exit::Usage.error(format!(
                "{} needs more permissions than state: give the configuration that grants them, with --config",
                self.component.display()
            )));
        }
        let file = self.component.canonicalize()?;
        let component = file.to_str().ok_or_else(|| {
            Exit::Usage.error(format!("{}: the path is not UTF-8, as it has to be in a configuration", file.display()))
        })?;
        let mut hook = json!({ "type": "wasm", "component": component, "authority": "trusted" });
        if let Some(hook) = hook.as_object_mut().filter(|_| found.asks.contains(&Grant::State)) {
            hook.insert("permissions".into(), json!({ "state": true }));
        }
        let hooks = on(dialect, wire, self.name, &hook)?;
        Ok((json!({ "dialect": name, "hooks": hooks }).to_string(), file.with_file_name("hooks.json")))
    }
}

/// The `hooks` member with this hook on the event.
fn on(dialect: &dyn Dialect, wire: &[u8], name: Option<&str>, hook: &Value) -> anyhow::Result<Value> {
    event::check(dialect, name)?;
    let event = dialect.decode_event(wire, name).map_err(|error| Exit::Data.error(error.to_string()))?;
    let name = event.name.as_str();
    Ok(match dialect.shape() {
        ConfigShape::Groups => json!({ name: [{ "hooks": [hook] }] }),
        ConfigShape::Flat => json!({ name: [hook] }),
        ConfigShape::Named => json!({ "measured": hook }),
    })
}

/// A percentile of sorted times.
pub fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last * percent).div_ceil(100)).copied().unwrap_or_default()
}
