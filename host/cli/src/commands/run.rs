//! `hookbox run`: decides on one event.

mod caller;
mod connect;
mod decided;
mod deliver;
mod event_text;
mod record;
mod source;

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use hookbox::{ErrorKind, Request, Response, time_for_hooks};

use self::decided::Decided;
use super::{RunningHost, block_on, seconds};
use crate::{exit::Exit, heartbeat, print, report, report::ShowWarnings, stops};

pub use event_text::EventText;
pub use record::append;
pub use source::{Source, is_to_fail_closed};

/// Decide on one event: its JSON on stdin, the verdict's JSON on stdout.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox run --config hooks.json < event.json")]
pub struct Run {
    #[command(flatten)]
    pub source: Source,
    /// Block when hookbox itself fails, as the configuration's `failClosed` does; holds without a configuration too
    #[arg(long)]
    fail_closed: bool,
    /// Seconds the client waits for its hooks, where its settings say something else
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    deadline: Option<Duration>,
    /// Format of the report on each hook, on stderr
    #[arg(long, value_enum, default_value_t = Diagnostics::Human)]
    diagnostics: Diagnostics,
    #[command(flatten)]
    daemon: connect::Daemon,
    /// Append a record of the verdict to this file: digests, each hook's verdict, time, fuel and faults (JSON lines)
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Begin a chain of records in a new file, in which `hookbox records verify` finds changes; a chained file stays one
    #[arg(long, requires = "record")]
    chain: bool,
}

/// Formats of the report on hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Diagnostics {
    /// One line per hook
    Human,
    /// One JSON object per line
    Json,
    /// Nothing but errors
    Off,
}

/// The message after a panic, which has already printed its own.
const BUG: &str = "internal error (see above)";

impl Run {
    pub fn run(self) -> anyhow::Result<Exit> {
        let printed = Cell::new(None);
        let done = catch_unwind(AssertUnwindSafe(|| self.decide(&printed)));
        done.unwrap_or_else(|_| match printed.get() {
            // The client has its verdict, and accepts it only with the matching exit code.
            Some(exit) => Ok(exit),
            None if self.fail_closed => {
                print::block(format_args!("hookbox failed; blocking because of `--fail-closed`: {BUG}"));
                print::release();
                Ok(Exit::Code(2))
            }
            None => Err(Exit::Software.error(BUG)),
        })
    }

    /// Decides on the event on stdin. Sets `printed` to the exit code once the client has its verdict.
    fn decide(&self, printed: &Cell<Option<Exit>>) -> anyhow::Result<Exit> {
        let began = Instant::now();
        // Doctor reads the failed hooks from the JSON lines.
        let canary = std::env::var_os(heartbeat::CANARY).is_some();
        let diagnostics = if canary { Diagnostics::Json } else { self.diagnostics };
        if diagnostics == Diagnostics::Json {
            print::json_only();
        }
        report::show_warnings(match diagnostics {
            Diagnostics::Off => ShowWarnings::Never,
            _ => ShowWarnings::Once,
        });
        // Some clients read stderr. For them, stderr may only contain text that belongs to the response.
        print::hold();
        let due = self.deadline.and_then(|time| began.checked_add(time_for_hooks(time)));
        print::due(due);
        let event = EventText::of_stdin(due);
        let name = self.source.event.as_deref();
        let request = event.request().event_name(name).received_at(began).timeout(self.deadline);
        let Decided { response, dialect, record, error, living } = self.respond(&event, request);
        let due = response.due.or(due);
        print::due(due);

        let known = dialect.and_then(|dialect| Some((dialect, dialect.glimpse_spec(&event.read, name)?)));
        let beyond = known
            .filter(|_| response.error.is_none())
            .and_then(|(dialect, spec)| stops::beyond(dialect, spec, response.outcome == "deny", &event.read));
        let stdout = within_stops(beyond, &response.stdout);
        // The verdict is written first, because any other output may block or fail.
        let unheard = deliver::deliver(stdout, due, response.undelivered.is_some()).err();
        if let (Some(why), Some(reason)) = (&unheard, &response.undelivered) {
            // A client without a verdict continues. It treats exit code 2 and the reason on stderr as a block.
            print::block(format_args!("{reason} ({why:#})"));
            print::release();
            end(living, Some(began));
            return Ok(Exit::Code(2));
        }
        let exit = Exit::Code(response.exit_code);
        printed.set(Some(exit));
        if let (Some(path), Some(record)) = (&self.record, record)
            && let Err(error) = record::append(path, &record, self.chain, 0)
        {
            report::error(&error);
        }
        print_stderr(&response, error, diagnostics, canary);
        // The hooks decided, here or in the daemon.
        if let Some((dialect, spec)) = known.filter(|_| response.verdict().is_some() || living.is_none()) {
            heartbeat::touch(dialect.name(), spec.name);
        }
        // The client has its verdict. Observers may use the remaining time.
        let missed = end(living, response.due);
        // A client that reads stderr treats every line there as output of the hooks.
        if diagnostics != Diagnostics::Off && !response.quiet {
            for line in &missed {
                print::err(format_args!("hookbox: {line}"));
            }
        }
        unheard.map_or(Ok(exit), Err)
    }

    /// The response of the daemon or of the local configuration.
    fn respond(&self, event: &EventText, request: Request<'_>) -> Decided {
        let here = || decided::decide(&self.source, self.fail_closed, self.record.is_some(), event, request);
        match self.daemon.ask(&self.source, event, self.deadline, self.fail_closed, request) {
            None => here(),
            Some(Ok(decided)) => decided,
            Some(Err(error)) if self.source.config.is_none() => {
                connect::away(&self.source, self.fail_closed, request, error)
            }
            // A configuration on the command line replaces an unavailable daemon.
            Some(Err(error)) => {
                report::error(&error);
                here()
            }
        }
    }
}

/// The text for the client. If hooks have kept the agent going for too long, an empty verdict instead.
fn within_stops(beyond: Option<u32>, stdout: &str) -> &str {
    let Some(limit) = beyond else { return stdout };
    print::err(format_args!("hookbox: hooks blocked the stop {limit} times in a row; now the agent may stop"));
    "{}"
}

/// Stops what the hooks still run after the verdict.
fn end(living: Option<RunningHost>, due: Option<Instant>) -> Vec<String> {
    living.map(|living| living.end(due)).unwrap_or_default()
}

/// Prints to stderr: first the text for the client, then messages for the user.
fn print_stderr(response: &Response, error: Option<anyhow::Error>, diagnostics: Diagnostics, canary: bool) {
    match (&response.stderr, &response.error, response.verdict()) {
        (Some(text), None, _) => print::feedback(text),
        (Some(text), Some(_), _) => {
            print::block(text);
            print::release();
        }
        (None, Some(_), _) if response.quiet => print::forget(),
        (None, Some(failed), verdict) => {
            print::release();
            let exit = match failed.kind {
                ErrorKind::Event => Exit::Data,
                ErrorKind::Config => Exit::Config,
                _ => Exit::Software,
            };
            let unusable = || verdict.map(|verdict| verdict.unusable().cloned().collect()).unwrap_or_default();
            report::error(&error.unwrap_or_else(|| match failed.kind {
                ErrorKind::Config => exit.unusable(unusable()),
                _ => exit.error(&*failed.message),
            }));
        }
        (None, None, verdict) => {
            if let Some(verdict) = verdict {
                report::problems(verdict.unusable());
                match diagnostics {
                    Diagnostics::Human => report::human(verdict),
                    Diagnostics::Json => report::json_lines(verdict),
                    Diagnostics::Off => {}
                }
            }
            if response.quiet && !canary { print::forget() } else { print::release() }
        }
    }
}
