//! One case: an event, and what it must lead to.

use std::path::Path;

use hookbox::{Verdict, verdict::HookReport};
use serde::Deserialize;
use serde_json::Value;

use super::difference;
use crate::exit::Exit;

/// A case as it stands in `case.json`. The cases of a file run in order and share the hooks' state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Instead of the configuration's.
    dialect: Option<String>,
    /// Instead of the configuration's.
    hooks: Option<Value>,
    /// As the client sends it.
    pub event: Value,
    /// What the client is told; `null`: nothing.
    #[serde(default)]
    expect: Value,
    /// What the hooks log, each as `info: a message`, in order.
    logs: Option<Vec<String>>,
    /// What a hook's failure has in its text; without it no hook may fail.
    fault: Option<String>,
    /// Fuel that no hook may use more of.
    fuel: Option<u64>,
}

impl Case {
    /// The cases of a file.
    pub fn read(text: &str, file: &Path) -> anyhow::Result<Vec<Self>> {
        let wrong = |error: serde_json::Error| Exit::Usage.error(format!("{}: {error}", file.display()));
        let cases: Vec<Self> = serde_json::from_str(text).map_err(wrong)?;
        if cases.is_empty() {
            return Err(Exit::Usage.error(format!("{} has no cases", file.display())));
        }
        Ok(cases)
    }

    /// The file with what was found as what is expected.
    pub fn updated(text: &str, found: &[Value]) -> anyhow::Result<String> {
        let mut cases: Vec<Value> = serde_json::from_str(text)?;
        for (case, found) in cases.iter_mut().zip(found) {
            if let Some(case) = case.as_object_mut() {
                case.insert("expect".into(), found.clone());
            }
        }
        Ok(serde_json::to_string_pretty(&cases)? + "\n")
    }

    /// The configuration that it runs under.
    pub fn configuration(&self, shipped: &Value) -> String {
        let mut config = shipped.clone();
        if let Some(config) = config.as_object_mut() {
            let own = [("dialect", self.dialect.clone().map(Value::String)), ("hooks", self.hooks.clone())];
            config.extend(own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        }
        config.to_string()
    }

    /// What is not as expected, a line each.
    pub fn differences(&self, verdict: &Verdict) -> Vec<String> {
        let mut lines = Vec::new();
        difference::json(&self.expect, verdict.wire.as_ref().unwrap_or(&Value::Null), &mut lines);
        let runs = || verdict.hooks.iter().filter_map(HookReport::run);
        if let Some(expected) = &self.logs {
            let found: Vec<_> =
                runs().flat_map(|run| &run.logs).map(|log| format!("{}: {}", log.level.word(), log.message)).collect();
            if *expected != found {
                lines.push("the hooks log".into());
                lines.push(format!("   expected  {}", Value::from(expected.clone())));
                lines.push(format!("   found     {}", Value::from(found)));
            }
        }
        let faults: Vec<_> = runs().filter_map(|run| run.result.as_ref().err()).map(ToString::to_string).collect();
        match &self.fault {
            Some(expected) if !faults.iter().any(|fault| fault.contains(expected)) => {
                lines.push(format!("no hook failed with `{expected}`"));
            }
            None => lines.extend(faults.iter().map(|fault| format!("a hook failed: {fault}"))),
            Some(_) => {}
        }
        let most = runs().filter_map(|run| run.fuel).max().unwrap_or_default();
        if let Some(fuel) = self.fuel.filter(|fuel| most > *fuel) {
            lines.push(format!("a hook used {most} units of fuel, more than {fuel}"));
        }
        lines
    }
}
