//! `hookbox run`: one event in, one verdict out.

mod caller;

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use hookbox::{
    Dialect, Host, OwnFailure, Record, Verdict,
    config::{self, Config},
};

use super::{block_on, host};
use crate::{exit::Exit, print, report, report::Told, trust};

/// Judge one event: its JSON on stdin, the verdict's JSON on stdout.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub source: Source,
    /// Block when hookbox itself fails, as the configuration's `failClosed` does; holds without a configuration too
    #[arg(long)]
    fail_closed: bool,
    /// What to print about each hook, on stderr
    #[arg(long, value_enum, default_value_t = Diagnostics::Human)]
    diagnostics: Diagnostics,
    /// Append a record of the verdict to this file: digests, each hook's verdict, time, fuel and faults (JSON lines)
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Where the configuration and the event's dialect and name come from.
#[derive(Debug, Args)]
pub struct Source {
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude); `auto`: the one of whoever calls
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,
    /// The event's name, when its JSON does not carry it
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Run of the configuration only what needs no trust: components without grants, as gates
    #[arg(long, requires = "config")]
    pub untrusted: bool,
}

/// How hooks are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Diagnostics {
    /// One line per hook
    Human,
    /// One JSON object per line
    Json,
    /// Nothing but errors
    Off,
}

/// Larger events are refused before they are read: what they would do to a hook is not worth finding out.
const INPUT_LIMIT: u64 = 64 * 1024 * 1024;

impl Run {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.diagnostics == Diagnostics::Json {
            print::json_only();
        }
        report::tell_warnings(match self.diagnostics {
            Diagnostics::Off => Told::Never,
            _ => Told::Once,
        });
        // Some clients read stderr, and then nothing may stand there unless something stands on stdout.
        print::hold();
        let wire = read_event(std::io::stdin().lock());
        let (verdict, record) = match judge(&self.source, self.fail_closed, wire) {
            Ok(judged) => judged,
            Err(failed) => return failed.end(),
        };
        // A verdict holds even when it cannot be recorded.
        if let Some(Err(error)) = self.record.as_ref().map(|path| append(path, &record)) {
            report::error(&error);
        }
        match self.diagnostics {
            Diagnostics::Human => report::human(&verdict),
            Diagnostics::Json => report::json_lines(&verdict),
            Diagnostics::Off => {}
        }
        let reads_stderr = hookbox::dialect::by_name(verdict.dialect).is_some_and(Dialect::reads_stderr);
        if reads_stderr && verdict.to_bytes().is_empty() {
            print::forget();
        } else {
            print::release();
        }
        verdict_out(verdict.to_bytes())
    }
}

/// Judges one event, or says what came in the way and whether that must block.
fn judge(source: &Source, closed: bool, wire: anyhow::Result<Vec<u8>>) -> Result<(Verdict, Record), Failed> {
    // What was read of the event tells how to fail, whatever else went wrong.
    let (wire, unread) = match wire {
        Ok(wire) => (wire, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let failed =
        |error, closed, dialect| Failed { error, closed, dialect, name: source.event.clone(), wire: wire.clone() };
    let guessed = hookbox::dialect::by_name(source.named().unwrap_or("claude"));
    let path = source.path().map_err(|error| failed(error, closed, guessed))?;
    let mut config = source.load(&path).map_err(|error| {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let named = source.named().is_none().then(|| config::dialect_hint(&text)).flatten();
        failed(error, closed || config::fail_closed_hint(&text), named.or(guessed))
    })?;
    config.fail_closed |= closed;
    let (closed, dialect) = (config.fail_closed, Some(config.dialect));
    if let Some(error) = unread {
        return Err(failed(error, closed, dialect));
    }
    let config = match caller::answer(config, source.event.as_deref(), &wire) {
        Ok(config) => config,
        // Whose words would block, nobody knows: clients that look at exit codes take 2 for a block.
        Err(error) => return Err(failed(error, closed, None)),
    };
    let dialect = Some(config.dialect);
    let judged = block_on(async {
        let host = host(config).await?;
        let verdict = source.dispatch(&host, &wire).await?;
        let record = verdict.record(&host, &wire);
        Ok((verdict, record))
    });
    let (verdict, record) = match judged {
        Ok(judged) => judged,
        Err(error) => return Err(failed(error, closed, dialect)),
    };
    // What the usable hooks forbid is forbidden. Anything less must not look as if all of them had been asked.
    let unusable: Vec<_> = verdict.unusable().cloned().collect();
    if !unusable.is_empty() && (closed || !verdict.restricts()) {
        return Err(failed(Exit::Config.unusable(unusable), closed, dialect));
    }
    unusable.iter().for_each(report::problem);
    Ok((verdict, record))
}

impl Source {
    /// The configuration file.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        let found = || config::find(Path::new(""));
        self.config
            .clone()
            .or_else(found)
            .ok_or_else(|| Exit::Config.error("no configuration here: give --config FILE"))
    }

    /// The dialect that was given, unless the event is to tell it.
    fn named(&self) -> Option<&str> {
        self.dialect.as_deref().filter(|name| *name != caller::AUTO)
    }

    /// Loads the configuration, telling of warnings. Of one that was found, what its user trusts may run; of one that
    /// was named, everything, unless its caller says otherwise.
    pub fn load(&self, path: &Path) -> anyhow::Result<Config> {
        let loaded = Config::load(path, self.named())?;
        report::warnings(&loaded);
        let mut config = loaded.config;
        if self.untrusted {
            trust::confine(&mut config);
        } else if self.config.is_none() {
            trust::hold(&mut config);
        }
        Ok(config)
    }

    /// Judges the event under the name given, or its own.
    pub async fn dispatch(&self, host: &Host, wire: &[u8]) -> anyhow::Result<Verdict> {
        Ok(match &self.event {
            Some(name) => host.dispatch_as(name, wire).await?,
            None => host.dispatch(wire).await?,
        })
    }
}

/// A failure of ours.
struct Failed {
    error: anyhow::Error,
    /// The configuration or the command line says that failures block.
    closed: bool,
    dialect: Option<&'static dyn Dialect>,
    /// The event's name, where it was given.
    name: Option<String>,
    /// The event, as far as it was read.
    wire: Vec<u8>,
}

impl Failed {
    /// Ends the process in the way that the client takes for what the configuration wants: a block, or nothing.
    fn end(self) -> anyhow::Result<Exit> {
        let closed = self.closed && self.may_block();
        let line = report::one_line(&self.error);
        let reason = if closed { format!("hookbox failed, and is to fail closed: {line}") } else { line };
        let own = match self.dialect {
            Some(dialect) if closed => dialect.fail_closed(&self.wire, self.name.as_deref(), &reason),
            None if closed => OwnFailure::block(None),
            Some(dialect) => dialect.fail_open(),
            None => {
                print::release();
                return Err(self.error);
            }
        };
        if own.stderr {
            print::release();
        } else {
            print::forget();
        }
        let Some(code) = own.exit else { return Err(self.error) };
        match own.stderr {
            true if closed => print::block(&reason),
            true => report::error(&self.error),
            false => {}
        }
        if let Some(reply) = own.stdout {
            verdict_out(reply.to_string().into_bytes())?;
        }
        Ok(Exit::Told(code))
    }

    /// Whether the event can be blocked. One that cannot even be read may be one that can.
    fn may_block(&self) -> bool {
        let Some(dialect) = self.dialect else { return true };
        dialect.decode_event(&self.wire, self.name.as_deref()).map_or(true, |event| dialect.spec_of(&event).blockable)
    }
}

/// Appends one line with one write, so that processes that record at the same time do not mix their lines.
fn append(path: &Path, record: &Record) -> anyhow::Result<()> {
    let line = serde_json::to_string(record).context("the record cannot be written as JSON")?;
    let written = || {
        // What hooks said and what tools were asked to do is the user's alone.
        let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
        let begin = if ends_in_a_line(&mut file)? { "" } else { "\n" };
        file.write_all(format!("{begin}{line}\n").as_bytes())
    };
    written().with_context(|| format!("cannot write the record to {}", path.display()))
}

/// Whether a file is to be written on after its end: not when a full disk or a crash cut its last line.
fn ends_in_a_line(file: &mut File) -> io::Result<bool> {
    if !file.metadata()?.is_file() || file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Reads one event, and refuses one that is too large.
pub fn read_event(from: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut wire = Vec::new();
    from.take(INPUT_LIMIT + 1).read_to_end(&mut wire).context("cannot read the event from stdin")?;
    if wire.len() as u64 > INPUT_LIMIT {
        return Err(Exit::Data.error("the event is larger than 64 MiB"));
    }
    Ok(wire)
}

/// Prints the verdict whole or not at all.
fn verdict_out(mut wire: Vec<u8>) -> anyhow::Result<Exit> {
    if !wire.is_empty() {
        wire.push(b'\n');
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&wire).and_then(|()| stdout.flush()).context("cannot write the verdict to stdout")?;
    }
    Ok(Exit::Ok)
}
