//! What an event must lead to, and where it did not.

use std::collections::BTreeMap;

use hookbox::{Verdict, verdict::HookReport};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{case::text, difference};

/// What is not written is not looked at, but for failures: a hook that fails has to be expected.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// What all hooks came to, in a word: `deny`, `none`, …
    decision: Option<String>,
    /// What the client is told; `null`: nothing.
    #[serde(default, deserialize_with = "given")]
    output: Option<Value>,
    /// What the hooks log, each as `info: a message`, in order; `…` at the end of one stands for the rest of it.
    log: Option<Vec<String>>,
    /// Words of a hook's failure.
    fault: Option<String>,
    /// What the hooks keep afterwards.
    state: Option<BTreeMap<String, Value>>,
    /// Fuel that no hook may use more of.
    fuel: Option<u64>,
}

/// `null` is a value too.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// What one event led to, in the words of an [`Expect`].
#[derive(Debug, Clone)]
pub struct Found {
    pub decision: String,
    pub output: Value,
    pub log: Vec<String>,
    pub state: BTreeMap<String, String>,
}

/// Something that is not as expected.
pub struct Difference {
    pub lines: Vec<String>,
    /// The part of an [`Expect`] that `--update` makes so; what no author wants to expect unseen is none.
    pub part: Option<&'static str>,
}

impl Difference {
    /// These lines as one difference that `--update` leaves alone, if there are any.
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

    /// A part of it by its name in an [`Expect`]; what cannot be taken over has none.
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
    /// Returns true if nothing is written.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self { decision: None, output: None, log: None, fault: None, state: None, fuel: None })
    }

    /// What is not as expected.
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
        let most = runs(verdict).filter_map(|run| run.fuel).max().unwrap_or_default();
        if let Some(fuel) = self.fuel.filter(|fuel| most > *fuel) {
            wrong(format!("a hook used {most} units of fuel, more than {fuel}"));
        }
        differences
    }

    /// What is expected and can be compared.
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

/// An expected line; one that ends in `…` is the whole line where that begins so.
fn as_found<'a>(line: &'a str, found: Option<&'a String>) -> &'a str {
    let begins = |found: &&String| line.strip_suffix('…').is_some_and(|begin| found.starts_with(begin));
    found.filter(begins).map_or(line, String::as_str)
}

fn runs(verdict: &Verdict) -> impl Iterator<Item = &hookbox::Run> {
    verdict.hooks.iter().filter_map(HookReport::run)
}
