//! The subcommands, one file each.

mod add;
mod approve;
mod bench;
mod build;
mod cache;
mod check;
mod completions;
mod digest;
mod doctor;
mod event;
mod explain;
mod health;
pub mod help;
mod hooks;
mod info;
mod init;
mod inspect;
mod install;
mod lock;
mod man;
mod measure;
mod new;
mod pull;
mod push;
mod records;
mod run;
mod save;
mod schema;
pub mod scratch;
mod serve;
mod sign;
mod stdio;
mod test;
mod token;
mod top;
mod trust;
mod update;
mod yaml;

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use clap::Subcommand;
use hookbox::{HookSet, Profile, config::Config};
use rustix::process::Signal;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use crate::{exit::Exit, log};

/// The subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Decide on one event: its JSON on stdin, the verdict's JSON on stdout
    Run(run::Run),
    /// Serve `PicoClaw` as one of its hook processes: JSON-RPC on stdin and stdout
    Stdio(stdio::Stdio),
    /// Run the daemon, which decides for many tenants over HTTP
    Serve(serve::Serve),
    /// Ask the daemon whether it is ready
    Health(health::Health),
    /// Watch a daemon in a terminal: its tenants, its hooks, and what needs attention
    Top(top::Top),
    /// Print a new token for a tenant of the daemon, and its hash
    Token(token::Token),
    /// Show the hooks that match an event, their outputs, and the rule that decides
    Explain(explain::Explain),
    /// Report all errors in a configuration and its hooks
    Check(check::Check),
    /// Trust a configuration in its folder, in its current state
    Trust(trust::Trust),
    /// Push a hook to a registry
    Push(push::Push),
    /// Sign a hook in a registry with a key
    Sign(sign::Sign),
    /// Pull a hook from a registry into a file
    Pull(pull::Pull),
    /// Print the digest of a hook in a registry, or of a file
    Digest(digest::Digest),
    /// Show a hook in a registry: its origin, its events and its permissions
    Info(info::Info),
    /// Pin the hooks of registries that a configuration names, and fetch them
    Lock(lock::Lock),
    /// Find newer versions of locked hooks, and show what they change
    Update(update::Update),
    /// Approve locked hooks that are new or need more permissions
    Approve(approve::Approve),
    /// Write the components of a lock to one file, for a machine without a network
    Save(save::Save),
    /// Take the components of a lock from a file that `save` wrote
    Load(save::Load),
    /// Verify chained records, or sign their head
    Records(records::Records),
    /// Show the caches of registries and of the compiler, and free space
    Cache(cache::Cache),
    /// Guard the clients on this machine with the bundled hooks
    Init(init::Init),
    /// List the bundled hooks
    Hooks(hooks::Hooks),
    /// Add a bundled hook to a configuration
    Add(add::Add),
    /// Connect a client to hookbox for every event that a configuration has hooks for
    Install(install::Install),
    /// Check that clients call hookbox, and list what no hook can stop there
    Doctor(doctor::Doctor),
    /// Show the events and imports of a component
    Inspect(inspect::Inspect),
    /// Create a hook: a project that builds, runs and has tests
    New(new::New),
    /// Compile a hook to a component
    Build(build::Build),
    /// Run a hook's cases: events and the expected verdicts
    Test(test::Test),
    /// Measure the cost of a call of a hook: time, fuel and memory
    Bench(bench::Bench),
    /// Print the JSON Schema of the configuration file
    Schema(schema::Schema),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the help of a command or a topic
    Help(help::Help),
    /// Write the manual pages and completion scripts into a folder, for packages
    #[command(hide = true)]
    Man(man::Man),
}

impl Command {
    /// Runs the subcommand.
    pub fn run(self) -> anyhow::Result<Exit> {
        // The daemon's settings configure its own log.
        if !matches!(self, Self::Serve(_)) {
            log::of_command();
        }
        match self {
            Self::Run(command) => command.run(),
            Self::Stdio(command) => command.run(),
            Self::Serve(command) => command.run(),
            Self::Health(command) => command.run(),
            Self::Top(command) => command.run(),
            Self::Token(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Trust(command) => command.run(),
            Self::Push(command) => command.run(),
            Self::Sign(command) => command.run(),
            Self::Pull(command) => command.run(),
            Self::Digest(command) => command.run(),
            Self::Info(command) => command.run(),
            Self::Lock(command) => command.run(),
            Self::Update(command) => command.run(),
            Self::Approve(command) => command.run(),
            Self::Save(command) => command.run(),
            Self::Load(command) => command.run(),
            Self::Cache(command) => command.run(),
            Self::Records(command) => command.run(),
            Self::Init(command) => command.run(),
            Self::Hooks(command) => command.run(),
            Self::Add(command) => command.run(),
            Self::Install(command) => command.run(),
            Self::Doctor(command) => command.run(),
            Self::Inspect(command) => command.run(),
            Self::New(command) => command.run(),
            Self::Build(command) => command.run(),
            Self::Test(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Help(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}

/// The path of this program, which compiles components in child processes. On Linux it refers to the running file even
/// if an update has replaced it.
fn compiler() -> PathBuf {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().unwrap_or_else(|_| "hookbox".into())
}

/// A host that loads hooks on demand, and compiles them in child processes of this program.
async fn host(config: Config) -> anyhow::Result<HookSet> {
    Ok(HookSet::standalone().config(config).compiler(compiler()).profile(Profile::OneShot).build().await?)
}

/// The time that hook processes have to exit after the verdict, as in `PicoClaw`.
const GRACE: Duration = Duration::from_secs(2);

/// A host that lives longer than its verdict, because a hook process may still be handling a notification.
struct RunningHost {
    host: HookSet,
    runtime: Runtime,
}

impl RunningHost {
    /// Stops what the hooks run, at the latest at `due`. Returns a line for each hook that may have missed the event.
    fn end(self, due: Option<Instant>) -> Vec<String> {
        let left = due.map_or(GRACE, |due| due.saturating_duration_since(Instant::now()));
        let missed = self.runtime.block_on(self.host.close(left.min(GRACE)));
        let missed =
            missed.into_iter().map(|(hook, why)| format!("`{hook}` may have missed the event: {why}")).collect();
        self.runtime.shutdown_background();
        // The client waits for this process to exit. The system frees all memory at once, which is faster than dropping
        // it.
        std::mem::forget(self.host);
        missed
    }
}

/// The runtime that [`outlive_full_files`] created, for its first user.
static FIRST: Mutex<Option<Runtime>> = Mutex::new(None);

/// Makes writing past a file size limit a normal error, instead of a signal that ends the process.
pub fn outlive_full_files() {
    // Without a runtime, nothing will be written either.
    let first = new_runtime().ok().inspect(|runtime| {
        let _within = runtime.enter();
        let _caught = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
    });
    *FIRST.lock().unwrap_or_else(PoisonError::into_inner) = first;
}

fn runtime() -> io::Result<Runtime> {
    let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take();
    first.map_or_else(new_runtime, Ok)
}

/// The descriptors that a runtime needs, and some for the files of an event.
const DESCRIPTORS: usize = 10;

/// Checks that enough descriptors are available, because creating a runtime panics without them.
///
/// # Errors
/// The limit on open files of this process is too low.
fn descriptors() -> io::Result<()> {
    let taken: io::Result<Vec<File>> = (0..DESCRIPTORS).map(|_| File::open("/dev/null")).collect();
    taken.map(drop).map_err(|error| io::Error::new(error.kind(), format!("too few files may be opened: {error}")))
}

/// The threads that a runtime needs besides its workers: for stdin, files and name resolution.
const THREADS: usize = 4;

/// Checks that enough threads are available, because creating a multi-threaded runtime panics without them.
///
/// # Errors
/// The limits on processes or memory of this process are too low.
fn threads() -> io::Result<()> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let held = Mutex::new(());
    thread::scope(|scope| {
        let _hold = held.lock();
        let waits = || drop(held.lock());
        let started =
            (0..workers + THREADS).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, waits).map(drop));
        started.map_err(|error| io::Error::new(error.kind(), format!("too few threads may be started: {error}")))
    })
}

/// A single-threaded runtime. One event needs no more, and threads increase start-up time.
fn new_runtime() -> io::Result<Runtime> {
    descriptors()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Runs a future to completion.
fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = runtime()?;
    let done = runtime.block_on(future);
    // Do not wait for blocked threads (on a pipe, a name server): their results are not needed any more.
    runtime.shutdown_background();
    done
}

pub use run::is_to_fail_closed;

/// Parses a number of seconds on the command line.
fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number of seconds, for example 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
}
