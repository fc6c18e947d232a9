//! `hookbox run`: one event in, one verdict out.

mod caller;
mod connect;

use std::{
    cell::Cell,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use hookbox::{
    Asked, Dialect, EVENT_LIMIT, Fault, Judged, OurFailure, Record, Verdict,
    config::{self, Config, Reader},
    private::append as append_to,
    time_for_hooks,
};

use rustix::{
    fs::{FileType, FlockOperation, flock},
    process::{Resource, Signal, getrlimit},
};
use tokio::signal::unix::{SignalKind, signal};

use super::{Living, block_on, event, host, runtime, seconds};
use crate::{exit::Exit, heartbeat, print, report, report::Told, stops, trust};

/// Judge one event: its JSON on stdin, the verdict's JSON on stdout.
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
    /// What to print about each hook, on stderr
    #[arg(long, value_enum, default_value_t = Diagnostics::Human)]
    diagnostics: Diagnostics,
    #[command(flatten)]
    daemon: connect::Daemon,
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

/// What a panic comes to, which has said itself what it is.
const BUG: &str = "a bug of ours, which is told of above";
const CLOSED: &str = "stdout is closed, or leads nowhere";
const UNHEARD: &str = "the verdict cannot be given to the client";

impl Run {
    pub fn run(self) -> anyhow::Result<Exit> {
        let told = Cell::new(None);
        let done = catch_unwind(AssertUnwindSafe(|| self.judge(&told)));
        done.unwrap_or_else(|_| match told.get() {
            // The client has its verdict, and reads it only beside the exit code that goes with it.
            Some(exit) => Ok(exit),
            None if self.fail_closed => {
                print::block(format_args!("hookbox failed, and is to fail closed: {BUG}"));
                print::release();
                Ok(Exit::Told(2))
            }
            None => Err(Exit::Software.error(BUG)),
        })
    }

    /// Judges the event on stdin; `told` is how this ends once the client has its verdict.
    fn judge(&self, told: &Cell<Option<Exit>>) -> anyhow::Result<Exit> {
        let began = Instant::now();
        // Doctor reads which hooks failed.
        let canary = std::env::var_os(heartbeat::CANARY).is_some();
        let diagnostics = if canary { Diagnostics::Json } else { self.diagnostics };
        if diagnostics == Diagnostics::Json {
            print::json_only();
        }
        report::tell_warnings(match diagnostics {
            Diagnostics::Off => Told::Never,
            _ => Told::Once,
        });
        // Some clients read stderr, and then nothing may stand there unless something stands on stdout.
        print::hold();
        let due = self.deadline.and_then(|time| began.checked_add(time_for_hooks(time)));
        print::due(due);
        let event = EventText::of_stdin(due);
        let asked = event.asked().named(self.source.event.as_deref()).since(began).within(self.deadline);
        let here = || judge_or_settle(&self.source, self.fail_closed, self.record.is_some(), &event, &asked);
        let Outcome { judged, record, error, living } = match self.daemon.ask(&self.source, &event, self.deadline) {
            Some(Ok(answer)) => {
                print::forget();
                let beyond = connect::stops_beyond(&self.source, &event, &answer);
                let answer = within_stops(beyond, || answer);
                let holds = self.fail_closed || connect::holds(&self.source, &event, &answer);
                let nobody = !answer.is_empty() && holds && nobody_reads();
                match verdict_out(answer, due).and_then(|()| if nobody { Err(anyhow!("{CLOSED}")) } else { Ok(()) }) {
                    Err(why) if holds => {
                        print::block(format_args!("{UNHEARD} ({why:#})"));
                        return Ok(Exit::Told(2));
                    }
                    written => written?,
                }
                told.set(Some(Exit::Ok));
                connect::touch(&self.source, &event);
                return Ok(Exit::Ok);
            }
            // It is away: a configuration that was named stands in for it.
            Some(Err(error)) if self.source.config.is_none() => {
                connect::away(&self.source, self.fail_closed, &event, error)
            }
            Some(Err(error)) => {
                report::error(&error);
                here()
            }
            None => here(),
        };
        let counted = judged.verdict.as_ref().filter(|_| judged.failed.is_none());
        let beyond = counted.and_then(|verdict| stops::beyond(verdict, &event.read));
        // The verdict goes first: whatever else is written may block, or fail.
        let feedback = counted.and_then(Verdict::feedback);
        let words = || if feedback.is_some() { Vec::new() } else { judged.to_bytes() };
        let wire = within_stops(beyond, words);
        let nobody = !wire.is_empty() && judged.holds().is_some() && nobody_reads();
        print::due(judged.due.or(due));
        let unheard = verdict_out(wire, judged.due.or(due)).err().or_else(|| nobody.then(|| anyhow!("{CLOSED}")));
        if let (Some(why), Some(reason)) = (&unheard, judged.holds()) {
            // A client that was told nothing goes on; this it takes for a block.
            print::block(format_args!("{reason} ({why:#})"));
            print::release();
            end(living, Some(began));
            return Ok(Exit::Told(2));
        }
        told.set(Some(match (&judged.failed, feedback) {
            (Some(failed), _) => exit_of(failed),
            (None, Some(_)) => Exit::Told(2),
            (None, None) => Exit::Ok,
        }));
        if let (Some(path), Some(record)) = (&self.record, record)
            && let Err(error) = append(path, &record)
        {
            report::error(&error);
        }
        let exit = match (&judged.failed, &judged.verdict) {
            (Some(failed), verdict) => tell(failed, verdict.as_ref(), error),
            (None, Some(_)) if let Some(text) = feedback => {
                print::feedback(text);
                Exit::Told(2)
            }
            (None, Some(verdict)) => {
                verdict.unusable().for_each(report::problem);
                match diagnostics {
                    Diagnostics::Human => report::human(verdict),
                    Diagnostics::Json => report::json_lines(verdict),
                    Diagnostics::Off => {}
                }
                let reads_stderr = hookbox::dialect::by_name(verdict.dialect).is_some_and(Dialect::reads_stderr);
                if reads_stderr && !canary && verdict.to_bytes().is_empty() {
                    print::forget();
                } else {
                    print::release();
                }
                Exit::Ok
            }
            (None, None) => Exit::Ok,
        };
        if let Some(verdict) = &judged.verdict {
            heartbeat::touch(verdict.dialect, &verdict.event);
        }
        // The client has its verdict; what was only told of the event may finish in the time that is left.
        end(living, judged.due);
        unheard.map_or(Ok(exit), Err)
    }
}

/// Whether words that cannot be understood say all the same that failures block, as an option or by the configuration that
/// they name: an option that this version does not know opens no gate.
pub fn is_to_fail_closed(words: &[String]) -> bool {
    let [_, command, rest @ ..] = words else { return false };
    let mut named = rest.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix("--config")? {
        "" => rest.get(at + 1).map(String::as_str),
        given => given.strip_prefix('='),
    });
    command == "run"
        && (rest.iter().any(|word| word == "--fail-closed")
            || named.any(|path| config::file_hints(Path::new(path)).fail_closed))
}

/// What the client is told, unless hooks have kept the agent going for too long.
fn within_stops(beyond: Option<u32>, answer: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let Some(limit) = beyond else { return answer() };
    print::err(format_args!("hookbox: hooks kept the agent going {limit} times in a row; now it may stop"));
    b"{}".to_vec()
}

/// Ends what the verdict has left.
fn end(living: Option<Living>, due: Option<Instant>) {
    if let Some(living) = living {
        living.end(due);
    }
}

/// Tells people of a failure of ours, and the client what it comes to.
fn tell(failed: &OurFailure, verdict: Option<&Verdict>, error: Option<anyhow::Error>) -> Exit {
    let own = own_exit(failed.fault);
    if !failed.told.stderr {
        print::forget();
    } else if failed.blocks {
        print::block(&failed.message);
        print::release();
    } else {
        print::release();
        let unusable = || verdict.map(|verdict| verdict.unusable().cloned().collect()).unwrap_or_default();
        let error = error.unwrap_or_else(|| match failed.fault {
            Fault::Config => own.unusable(unusable()),
            _ => own.error(&*failed.message),
        });
        report::error(&error);
    }
    exit_of(failed)
}

fn exit_of(failed: &OurFailure) -> Exit {
    failed.told.exit.map_or(own_exit(failed.fault), Exit::Told)
}

const fn own_exit(fault: Fault) -> Exit {
    match fault {
        Fault::Event => Exit::Data,
        Fault::Config => Exit::Config,
        Fault::Internal => Exit::Software,
    }
}

/// What became of an event.
struct Outcome {
    judged: Judged,
    record: Option<Record>,
    /// What came in the way of asking the hooks.
    error: Option<anyhow::Error>,
    /// What is still to be ended.
    living: Option<Living>,
}

impl Outcome {
    /// No hook was asked.
    fn failed(judged: Judged, error: Option<anyhow::Error>) -> Self {
        Self { judged, record: None, error, living: None }
    }
}

/// [`judge`], where a bug of ours is a failure like any other.
fn judge_or_settle(source: &Source, closed: bool, recorded: bool, event: &EventText, asked: &Asked<'_>) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| judge(source, closed, recorded, event, asked))).unwrap_or_else(|_| {
        let (dialect, shut) = source.hints();
        Outcome::failed(Judged::without_hooks(asked, dialect, closed || shut, Fault::Internal, BUG), None)
    })
}

/// Judges one event.
fn judge(source: &Source, closed: bool, recorded: bool, event: &EventText, asked: &Asked<'_>) -> Outcome {
    let without = |error: anyhow::Error, dialect, closed| {
        let fault = match Exit::of(&error) {
            Exit::Data => Fault::Event,
            Exit::Config => Fault::Config,
            _ => Fault::Internal,
        };
        let judged = Judged::without_hooks(asked, dialect, closed, fault, &report::one_line(&error));
        Outcome::failed(judged, Some(error))
    };
    let config = match source.path().and_then(|path| source.load(&path, closed)) {
        Ok(config) => config,
        Err(error) => {
            let (dialect, shut) = source.hints();
            let calling = dialect
                .and_then(|dialect| caller::of(dialect, source.given(), source.event.as_deref(), &event.read).ok());
            return without(error, calling, closed || shut);
        }
    };
    let closed = config.fail_closed;
    let config = match caller::answer(config, source.given(), source.event.as_deref(), &event.read) {
        Ok(config) => config,
        // Whose words would block, nobody knows: clients that look at exit codes take 2 for a block.
        Err(error) => return without(error, None, closed),
    };
    let dialect = config.dialect;
    if let Err(error) = event::check(dialect, source.event.as_deref()) {
        return without(error, Some(dialect), closed);
    }
    let judged = runtime().map_err(Into::into).and_then(|runtime| {
        let judged = runtime.block_on(async {
            let host = host(config).await?;
            let judged = tokio::select! {
                judged = host.judge(asked) => judged,
                // Of the processor time we may use there is a second left: enough to say what is known.
                () = out_of_time() => host.judge(&asked.within(Some(Duration::ZERO))).await,
            };
            anyhow::Ok((judged, host))
        });
        match judged {
            Ok((judged, host)) => Ok((judged, Living { host, runtime })),
            Err(error) => {
                runtime.shutdown_background();
                Err(error)
            }
        }
    });
    match judged {
        Ok((judged, living)) => {
            let verdict = judged.verdict.as_ref().filter(|_| recorded);
            let record = verdict.map(|verdict| verdict.record(&living.host, &event.read));
            Outcome { judged, record, error: None, living: Some(living) }
        }
        Err(error) => without(error, Some(dialect), closed),
    }
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

    /// What was said of the dialect. decisions.md#who-is-calling: "`--dialect` and `--event` go before what a payload tells".
    fn given(&self) -> caller::Given {
        match self.dialect.as_deref() {
            Some(caller::AUTO) => caller::Given::Auto,
            Some(_) => caller::Given::Named,
            None if self.event.is_some() => caller::Given::Named,
            None => caller::Given::Nothing,
        }
    }

    /// The dialect that was given, unless the event is to tell it.
    fn named(&self) -> Option<&str> {
        self.dialect.as_deref().filter(|name| *name != caller::AUTO)
    }

    /// What is known without a configuration that can be used: the dialect, and whether failures block. The file may say so
    /// all the same.
    fn hints(&self) -> (Option<&'static dyn Dialect>, bool) {
        let said = self.path().map(|path| config::file_hints(&path)).unwrap_or_default();
        let dialect = self.named().map_or(said.dialect, hookbox::dialect::by_name);
        (dialect.or_else(|| hookbox::dialect::by_name(config::DEFAULT_DIALECT)), said.fail_closed)
    }

    /// Loads the configuration, telling of warnings. Of one that was found, what its user trusts may run; of one that
    /// was named, everything, unless its caller says otherwise. `closed`: failures block, whatever it says.
    pub fn load(&self, path: &Path, closed: bool) -> anyhow::Result<Config> {
        let reader = self.named().into_iter().fold(Reader::new(), Reader::dialect);
        let loaded = reader.fail_closed(closed).file(path)?;
        report::warnings(&loaded);
        let mut config = loaded.config;
        if self.untrusted {
            trust::confine(&mut config);
        } else if self.config.is_none() {
            trust::hold(&mut config);
        }
        Ok(config)
    }
}

/// Ends when this process has used the processor time that it may use.
async fn out_of_time() {
    let limited = getrlimit(Resource::Cpu).current.is_some();
    match limited.then(|| signal(SignalKind::from_raw(Signal::XCPU.as_raw()))) {
        Some(Ok(mut used)) => drop(used.recv().await),
        _ => std::future::pending().await,
    }
}

/// Time for another process to write its record.
const RECORDING: Duration = Duration::from_secs(2);

/// Appends one line with one write while no other process appends to the file, so that lines never mix, and takes back what
/// could not be written whole.
fn append(path: &Path, record: &Record) -> anyhow::Result<()> {
    let line = serde_json::to_string(record).context("the record cannot be written as JSON")?;
    let written = || {
        // What hooks said and what tools were asked to do is the user's alone, and goes where the user says.
        let mut file = append_to(path)?;
        lock(&file)?;
        let end = file.metadata()?.len();
        let begin = if ends_in_a_line(&mut file)? { "" } else { "\n" };
        file.write_all(format!("{begin}{line}\n").as_bytes()).inspect_err(|_| {
            // The next record begins a line of its own where this fails.
            let _ = file.set_len(end);
        })
    };
    written().with_context(|| format!("cannot write the record to {}", path.display()))
}

/// Waits for the lock of a file, which goes with its descriptor.
fn lock(file: &File) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) if began.elapsed() < RECORDING => {
                thread::sleep(Duration::from_millis(1));
            }
            // Some file systems have no locks: one write is whole there too, nearly always.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOLCK) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(io::Error::other("another process holds it")),
            locked => return Ok(locked?),
        }
    }
}

/// Whether a file is to be written on after its end: not when a full disk or a crash cut its last line.
fn ends_in_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// An event as far as it could be read.
pub struct EventText {
    pub read: Vec<u8>,
    unread: Option<String>,
}

impl EventText {
    /// Reads no more than shows that it is too large.
    pub fn read(from: impl Read) -> Self {
        let mut read = Vec::new();
        let ended = from.take(EVENT_LIMIT as u64 + 1).read_to_end(&mut read);
        Self { read, unread: ended.err().map(|error| format!("it cannot be read to its end: {error}")) }
    }

    /// Reads stdin, until the client waits no longer: one that never ends is not waited for.
    fn of_stdin(due: Option<Instant>) -> Self {
        let Some(due) = due else { return Self::read(io::stdin().lock()) };
        let (send, parts) = mpsc::channel();
        let reading = thread::Builder::new().spawn(move || {
            let mut from = io::stdin().lock().take(EVENT_LIMIT as u64 + 1);
            loop {
                let mut part = vec![0; 64 << 10];
                let read = match from.read(&mut part) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(length) if length > 0);
                let read = read.map(|length| {
                    part.truncate(length);
                    part
                });
                if send.send(read).is_err() || ended {
                    return;
                }
            }
        });
        if reading.is_err() {
            return Self::read(io::stdin().lock());
        }
        let mut read = Vec::new();
        let unread = loop {
            match parts.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Ok(part)) if part.is_empty() => break None,
                Ok(Ok(part)) => read.extend(part),
                Ok(Err(error)) => break Some(format!("it cannot be read to its end: {error}")),
                Err(RecvTimeoutError::Timeout) => break Some("it did not end before the deadline".to_owned()),
                Err(RecvTimeoutError::Disconnected) => break Some("it cannot be read to its end".to_owned()),
            }
        };
        Self { read, unread }
    }

    /// All of it.
    ///
    /// # Errors
    /// Not all of it could be read.
    pub fn whole(&self) -> anyhow::Result<&[u8]> {
        match &self.unread {
            Some(why) => Err(Exit::Data.error(why.clone())),
            None => Ok(&self.read),
        }
    }

    /// What it is judged by.
    pub fn asked(&self) -> Asked<'_> {
        Asked::new(&self.read).unread(self.unread.as_deref())
    }
}

/// Whether what is written to stdout is lost: a stdout that was closed when we began is `/dev/null` by now.
fn nobody_reads() -> bool {
    let Ok(stdout) = rustix::fs::fstat(std::io::stdout()) else { return false };
    FileType::from_raw_mode(stdout.st_mode).is_char_device()
        && std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == stdout.st_rdev)
}

/// Time for a client to read its verdict, where nothing says how long it waits.
const READING: Duration = Duration::from_secs(30);

/// Prints the verdict whole or not at all, and waits for its reader until `due`.
///
/// # Errors
/// Also where the client does not read it.
fn verdict_out(mut wire: Vec<u8>, due: Option<Instant>) -> anyhow::Result<()> {
    if wire.is_empty() {
        return Ok(());
    }
    wire.push(b'\n');
    let wire = Arc::new(wire);
    let print = |wire: &[u8]| {
        let mut stdout = io::stdout().lock();
        stdout.write_all(wire).and_then(|()| stdout.flush())
    };
    let (send, done) = mpsc::channel();
    let theirs = Arc::clone(&wire);
    let writing = thread::Builder::new().spawn(move || send.send(print(&theirs)));
    let written = if writing.is_ok() {
        let left = due.map_or(READING, |due| due.saturating_duration_since(Instant::now()));
        let in_time = done.recv_timeout(left.max(LEAST_READING));
        in_time.unwrap_or_else(|_| Err(io::Error::other("the client does not read it")))
    } else {
        print(&wire)
    };
    written.context("cannot write the verdict to stdout")
}

/// Time for a client that reads, also where the verdict comes late.
const LEAST_READING: Duration = Duration::from_millis(100);
