//! The expected result of an event, and its differences from the actual one.

use std::collections::BTreeMap;

use hookbox::{Verdict, verdict::HookReport};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{case::text, difference};

/// The expected result. Only the given parts are compared, except that a hook's failure must always be expected.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The outcome of all hooks in one word: `deny`, `none`, …
    decision: Option<String>,
    /// The JSON for the client. `null`: no output.
    #[serde(default, deserialize_with = "given")]
    output: Option<Value>,
    /// The log lines of the hooks in order, such as `info: a message`. A final `…` matches the rest of a line.
    log: Option<Vec<String>>,
    /// A part of the message of a hook's failure.
    fault: Option<String>,
    /// The state of the hooks afterwards.
    state: Option<BTreeMap<String, Value>>,
    /// The maximum fuel of each hook.
    fuel: Option<u64>,
}

/// Reads a value, also `null`, as given.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// The actual result of one event, in the form of an [`Expect`].
#[derive(Debug, Clone)]
pub struct Found {
    pub decision: String,
    pub output: Value,
    pub log: Vec<String>,
    pub state: BTreeMap<String, String>,
}

/// A difference from the expected result.
pub struct Difference {
    pub lines: Vec<String>,
    /// The part of an [`Expect`] that `--update` adopts. `None` for parts that an author has to change, such as
    /// failures.
    pub part: Option<&'static str>,
}

impl Difference {
    /// These lines as one difference that `--update` does not adopt. `None` without lines.
    pub fn lines(lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then_some(Self { lines, part: None })
    }
}

impl Found {
    pub fn new(verdict: &Verdict, state: BTreeMap<String, String>) -> Self {
        let decision = match verdict.output().word() {
            "nothing" => "none",
            word => word,
        };
        let logs = runs(verdict).flat_map(|run| &run.logs);
        Self {
            decision: decision.to_owned(),
            output: verdict.wire.clone().unwrap_or_default(),
            log: logs.map(|log| format!("{}: {}", log.level.word(), log.message)).collect(),
            state,
        }
    }

    /// A part of the result by its name in an [`Expect`]. `None` for parts that cannot be adopted.
    pub fn part(&self, name: &str) -> Option<Value> {
        match name {
            "decision" => Some(json!(self.decision)),
            "output" => Some(self.output.clone()),
            "log" => Some(json!(self.log)),
            "state" => Some(json!(self.state)),
            _ => None,
        }
    }
}

impl Expect {
    /// Returns true if no part is given.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self { decision: None, output: None, log: None, fault: None, state: None, fuel: None })
    }

    /// The differences from the expected result.
    pub fn differences(&self, verdict: &Verdict, found: &Found) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (part, expected) in self.parts(found) {
            let between = if part == "state" { difference::between_entries } else { difference::between };
            let lines = between(part, &expected, &found.part(part).unwrap_or_default());
            if !lines.is_empty() {
                differences.push(Difference { lines, part: Some(part) });
            }
        }
        let mut wrong = |line: String| differences.push(Difference { lines: vec![line], part: None });
        let faults: Vec<_> = runs(verdict).filter_map(|run| Some(run.result.as_ref().err()?.to_string())).collect();
        match &self.fault {
            Some(expected) if !faults.iter().any(|fault| fault.contains(expected)) => {
                wrong(format!("no hook failed with `{expected}`"));
            }
            None => faults.iter().for_each(|fault| wrong(format!("a hook failed: {fault}"))),
            Some(_) => {}
        }
        let maximum = runs(verdict).filter_map(|run| run.fuel).max().unwrap_or_default();
        if let Some(fuel) = self.fuel.filter(|fuel| maximum > *fuel) {
            wrong(format!("a hook used {maximum} units of fuel, more than {fuel}"));
        }
        differences
    }

    /// The given parts that can be compared.
    fn parts(&self, found: &Found) -> Vec<(&'static str, Value)> {
        let log = self.log.as_ref().map(|lines| {
            let rest = found.log.iter().map(Some).chain(std::iter::repeat(None));
            json!(lines.iter().zip(rest).map(|(line, found)| as_found(line, found)).collect::<Vec<_>>())
        });
        let state = self.state.as_ref().map(|state| {
            json!(state.iter().map(|(key, value)| (key, text(value.clone()))).collect::<BTreeMap<_, _>>())
        });
        let parts = [
            ("decision", self.decision.as_ref().map(|word| json!(word))),
            ("output", self.output.clone()),
            ("log", log),
            ("state", state),
        ];
        parts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// An expected line. If it ends in `…` and the actual line starts with it, the actual line.
fn as_found<'a>(line: &'a str, found: Option<&'a String>) -> &'a str {
    let begins = |found: &&String| line.strip_suffix('…').is_some_and(|begin| found.starts_with(begin));
    found.filter(begins).map_or(line, String::as_str)
}

fn runs(verdict: &Verdict) -> impl Iterator<Item = &hookbox::Run> {
    verdict.hooks.iter().filter_map(HookReport::run)
}
