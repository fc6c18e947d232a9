//! `hookbox inspect`

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use hookbox::{
    LoadError,
    sandbox::component::{Inspection, Producer, inspect, read},
};
use serde_json::{Map, Value, json};

use super::{
    block_on, event,
    measure::{Calls, Measured, percentile},
};
use crate::{exit::Exit, print, report};

/// The number of calls on which the advice is based.
const RUNS: usize = 50;

/// Show the events and imports of a component.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox inspect guard.wasm")]
pub struct Inspect {
    /// Components
    #[arg(required = true, value_name = "HOOK.wasm")]
    components: Vec<PathBuf>,
    /// Also call it with this event's JSON, and advise limits
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// For the call: the event's name, when its JSON does not carry it
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,
    /// For the call: the configuration that names the component; needed where it asks for more than state
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// For the call: the hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let (name, input) = event::one(self.event, self.input)?;
        if input.is_none() && (name.is_some() || self.config.is_some() || self.dialect.is_some()) {
            return Err(Exit::Usage.error("missing event: give --input FILE"));
        }
        let mut listed = Vec::new();
        for path in &self.components {
            let bytes = read(path).with_context(|| path.display().to_string())?;
            let unusable = |error: LoadError| {
                let lines = vec![format!("{}: {error}", path.display()), format!("   {}", hookbox::remedy(&error))];
                Exit::Config.errors(lines)
            };
            let found = inspect(&bytes).map_err(unusable)?;
            let mut described = describe_json(path, &found);
            if !self.json {
                for line in describe(path, &found) {
                    print::row(HANG, line);
                }
            }
            if let Some(event) = &input {
                let measured = Measured {
                    component: path,
                    event,
                    name: name.as_deref(),
                    config: self.config.as_deref(),
                    dialect: self.dialect.as_deref(),
                    runs: RUNS,
                };
                let calls = block_on(measured.run())?;
                if self.json {
                    described.extend([("used".to_owned(), used_json(&calls)), ("advised".to_owned(), limits(&calls))]);
                } else {
                    for line in advice(&calls) {
                        print::row(HANG, line);
                    }
                }
            }
            listed.push(Value::Object(described));
        }
        if self.json {
            print::json(&json!({ "components": listed }));
        }
        Ok(Exit::Ok)
    }
}

/// The resources that calls used, and recommended limits: four times the fuel, twice the memory, and a hundred times
/// the 99th percentile of the time, because events differ and machines are busy.
fn advice(calls: &Calls) -> [String; 2] {
    let Calls { event, dialect, fuel, memory, decision, .. } = calls;
    let time = percentile(&calls.times, 99);
    let used = format!(
        "  used      {fuel} fuel, {} KiB of memory, {} at {event} under {dialect}: {decision}",
        memory.div_ceil(1024),
        report::time(time)
    );
    let spaced = limits(calls)
        .as_object()
        .map(|limits| limits.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect::<Vec<_>>().join(", "));
    [used, format!("  advised   \"limits\": {{ {} }}", spaced.unwrap_or_default())]
}

/// The recommended limits.
fn limits(calls: &Calls) -> Value {
    let mib = (calls.memory * 2).div_ceil(1 << 20);
    let time = (percentile(&calls.times, 99) * 100).max(Duration::from_secs(1));
    // Whole seconds.
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    json!({ "fuel": round_up(calls.fuel * 4), "memoryMiB": mib, "timeout": seconds })
}

fn used_json(calls: &Calls) -> Value {
    let Calls { event, dialect, fuel, memory, decision, .. } = calls;
    let micros = u64::try_from(percentile(&calls.times, 99).as_micros()).unwrap_or(u64::MAX);
    json!({
        "event": event, "dialect": dialect, "verdict": decision, "fuel": fuel, "memoryBytes": memory, "p99Us": micros,
    })
}

/// The column of the values in a description.
pub const HANG: usize = 12;

/// A component as JSON.
pub fn describe_json(path: &Path, found: &Inspection) -> Map<String, Value> {
    let producers = found
        .producers
        .iter()
        .map(|producer| json!({ "field": producer.field, "name": producer.name, "version": producer.version }));
    let described = json!({
        "file": path.to_string_lossy(), "bytes": found.size, "digest": format!("sha256:{}", found.digest),
        "language": found.language, "contract": found.contract, "producers": producers.collect::<Vec<_>>(),
        "handles": found.handles.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "asks": found.asks.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "inert": found.inert, "refused": found.refused,
    });
    match described {
        Value::Object(described) => described,
        _ => Map::new(),
    }
}

/// The imports without power. Those of WASI are counted, because a language's runtime brings all of them.
fn inert(imports: &[String]) -> String {
    let of_wasi = |import: &String| Some(import.strip_prefix("wasi:")?.split_once('/')?.0.to_owned());
    let packages: BTreeSet<String> = imports.iter().filter_map(of_wasi).collect();
    if imports.len() <= 3 || !imports.iter().all(|import| of_wasi(import).is_some()) {
        return list(imports.iter().map(|import| print::name(import)));
    }
    let packages = packages.iter().map(|package| print::name(package)).collect::<Vec<_>>().join(", ");
    format!("{} imports of WASI: {packages}", imports.len())
}

/// Rounds up to two significant digits.
fn round_up(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or_default().saturating_sub(1));
    number.div_ceil(unit) * unit
}

/// The description of a component, in six lines.
pub fn describe(path: &Path, found: &Inspection) -> [String; 6] {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let tool = |producer: &&Producer| producer.field == "processed-by";
    let made = found.producers.iter().filter(|producer| !tool(producer)).map(producer);
    // wit-component is left out: it processes every component, some several times.
    let tools = found.producers.iter().filter(tool).filter(|tool| tool.name != "wit-component").map(producer);
    let contract = found.contract.iter().map(|contract| format!("WIT {}", print::name(contract)));
    let made: Vec<String> = made.chain(contract).collect();
    let digest = found.digest.get(..12).unwrap_or(&found.digest);
    [
        format!("{}   {} KB   sha256:{digest}…   {}", print::name(&file), found.size.div_ceil(1024), made.join(", ")),
        format!("  made by   {}", list(tools)),
        format!("  handles   {}", list(found.handles.iter().map(|kind| kind.name().to_owned()))),
        format!("  asks      {}", list(found.asks.iter().map(ToString::to_string))),
        format!("  inert     {}", inert(&found.inert)),
        format!("  refused   {}", list(found.refused.iter().map(|import| print::name(import)))),
    ]
}

fn producer(producer: &Producer) -> String {
    let version = if producer.version.is_empty() { String::new() } else { format!(" {}", version(&producer.version)) };
    format!("{}{version}", print::name(&producer.name))
}

/// A version in the form that compilers use, such as `1.95.0 (59807616e 2026-04-14)`. Other texts are quoted.
fn version(text: &str) -> String {
    let usual = |c: char| c.is_ascii_alphanumeric() || ".-+() ".contains(c);
    if text.chars().all(usual) && !text.contains("  ") { text.to_owned() } else { print::quoted(text) }
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "—".into() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn limits_are_round_and_no_less() {
        let rounded = [0, 7, 99, 101, 26_938, 50_000_000].map(round_up);
        assert_eq!(rounded, [0, 7, 99, 110, 27_000, 50_000_000]);
    }
}
