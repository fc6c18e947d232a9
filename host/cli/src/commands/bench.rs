//! `hookbox bench`: measures the cost of calling a hook.

use std::{fmt::Write, path::PathBuf};

use anyhow::Context;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::{
    block_on, event,
    measure::{Calls, Measured, percentile},
};
use crate::{change, exit::Exit, print};

/// Measure the cost of a call of a hook: time, fuel and memory.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox bench guard.wasm --input event.json --runs 100")]
pub struct Bench {
    /// The component
    #[arg(value_name = "HOOK.wasm")]
    component: PathBuf,
    /// The event's JSON
    #[arg(long, value_name = "FILE", required_unless_present = "event")]
    input: Option<PathBuf>,
    /// The event's name, when its JSON does not carry it
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,
    /// The configuration that names the component; needed where it asks for more than state
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Number of calls
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Print JSON, for --against
    #[arg(long)]
    json: bool,
    /// Compare with the output of an earlier `--json`
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

/// The output of `--json`. Times are of one call in a fresh sandbox, in nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    component: String,
    event: String,
    dialect: String,
    /// The outcome in one word.
    decision: String,
    runs: u32,
    min_ns: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    fuel: u64,
    memory_bytes: u64,
}

impl Bench {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let earlier = self.against.as_ref().map(|path| {
            let text = change::read(path)?.with_context(|| format!("{} does not exist", path.display()))?;
            serde_json::from_str(&text).map_err(|error| {
                Exit::Usage.error(format!("{}: not an output of `hookbox bench --json`: {error}", path.display()))
            })
        });
        let earlier: Option<Report> = earlier.transpose()?;
        let (name, input) = event::one(self.event, self.input)?;
        let input = input.ok_or_else(|| Exit::Usage.error("missing event: give --input FILE"))?;
        let measured = Measured {
            component: &self.component,
            event: &input,
            name: name.as_deref(),
            config: self.config.as_deref(),
            dialect: self.dialect.as_deref(),
            runs: usize::try_from(self.runs)?,
        };
        let calls = block_on(measured.run())?;
        let name = self.component.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let report = Report::new(name, self.runs, calls);
        if self.json {
            print::text(serde_json::to_string_pretty(&report)? + "\n");
        } else {
            report.lines(earlier.as_ref()).iter().for_each(print::out);
        }
        Ok(Exit::Ok)
    }
}

/// A measured quantity: its label, its value in a report, and its format.
type Row = (&'static str, fn(&Report) -> u64, fn(u64) -> String);

impl Report {
    fn new(component: String, runs: u32, calls: Calls) -> Self {
        let at = |percent| u64::try_from(percentile(&calls.times, percent).as_nanos()).unwrap_or(u64::MAX);
        Self {
            component,
            dialect: calls.dialect.to_owned(),
            decision: calls.decision.to_owned(),
            runs,
            min_ns: at(0),
            p50_ns: at(50),
            p90_ns: at(90),
            p99_ns: at(99),
            max_ns: at(100),
            fuel: calls.fuel,
            memory_bytes: calls.memory,
            event: calls.event,
        }
    }

    /// The lines of the table: each quantity, and the earlier value with the change.
    fn lines(&self, earlier: Option<&Self>) -> Vec<String> {
        let Self { component, event, dialect, decision, runs, .. } = self;
        let calls = if *runs == 1 { "1 call".to_owned() } else { format!("{runs} calls") };
        let name = print::name(component);
        let mut lines =
            vec![format!("{name}   {event} under {dialect}: {decision}   {calls}, each in a fresh sandbox")];
        let rows: [Row; 7] = [
            ("time, least", |r| r.min_ns, micros),
            ("time, p50", |r| r.p50_ns, micros),
            ("time, p90", |r| r.p90_ns, micros),
            ("time, p99", |r| r.p99_ns, micros),
            ("time, most", |r| r.max_ns, micros),
            ("fuel", |r| r.fuel, |fuel| fuel.to_string()),
            ("memory", |r| r.memory_bytes, |bytes| format!("{} KiB", bytes.div_ceil(1024))),
        ];
        for (what, of, shown) in rows {
            let mut line = format!("  {what:12} {:>12}", shown(of(self)));
            if let Some(earlier) = earlier {
                let _ = write!(line, "   was {:>12}   {}", shown(of(earlier)), change(of(earlier), of(self)));
            }
            lines.push(line);
        }
        if earlier.is_some_and(|earlier| earlier.event != *event || earlier.dialect != *dialect) {
            lines.push("  the earlier figures are for another event or dialect".into());
        }
        lines
    }
}

fn micros(nanos: u64) -> String {
    format!("{}.{} µs", nanos / 1_000, nanos % 1_000 / 100)
}

/// The change in percent.
fn change(before: u64, now: u64) -> String {
    if before == 0 {
        return String::new();
    }
    let (before, now) = (i128::from(before), i128::from(now));
    format!("{:+} %", (now - before) * 100 / before)
}
