//! `hookbox stdio`: a hook process for `PicoClaw`.

mod recorder;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use hookbox::{
    HookSet, Verdict,
    config::{self, Reader},
    transport::stdio::{Budget, Load, Notice, Reloading, Reporter, Unavailable, refuse, serve},
};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use self::recorder::Recorder;
use super::seconds;
use crate::{exit::Exit, print, report, report::ShowWarnings};

/// Serve `PicoClaw` as one of its hook processes: JSON-RPC on stdin and stdout.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox stdio --config hooks.json")]
pub struct Stdio {
    /// The configuration, of the dialect picoclaw; loaded again when it changes
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Block when hookbox itself fails, as the configuration's `failClosed` does; holds without a configuration too
    #[arg(long)]
    fail_closed: bool,
    /// The client's timeout for observers, as in its configuration
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds)]
    observer_timeout: Duration,
    /// The client's timeout for interceptors, as in its configuration
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    interceptor_timeout: Duration,
    /// The client's timeout for approvals, as in its configuration
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    approval_timeout: Duration,
    /// Format of the report on each hook, on stderr
    #[arg(long, value_enum, default_value_t = Diagnostics::Failures)]
    diagnostics: Diagnostics,
    /// Append a record of each verdict to this file: digests, each hook's verdict, time, fuel and faults (JSON lines)
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Begin a chain of records in a new file, in which `hookbox records verify` finds changes; a chained file stays one
    #[arg(long, requires = "record")]
    chain: bool,
}

/// Formats of the report on hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Diagnostics {
    /// One line per hook that failed
    Failures,
    /// One line per hook
    Human,
    /// One JSON object per line
    Json,
    /// Nothing but errors
    Off,
}

impl Diagnostics {
    fn report(self, verdict: &Verdict) {
        match self {
            Self::Failures => report::failures(verdict),
            Self::Human => report::human(verdict),
            Self::Json => report::json_lines(verdict),
            Self::Off => {}
        }
    }
}

impl Stdio {
    pub fn run(self) -> anyhow::Result<Exit> {
        let budget = Budget {
            observer: self.observer_timeout,
            interceptor: self.interceptor_timeout,
            approval: self.approval_timeout,
        };
        if self.diagnostics == Diagnostics::Json {
            print::json_only();
        }
        if self.diagnostics == Diagnostics::Off {
            report::show_warnings(ShowWarnings::Never);
        }
        let (runtime, recorder) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => return self.refuse(&error),
        };
        let diagnostics = self.diagnostics;
        let recording = recorder.clone();
        let served = runtime.block_on(async {
            let reporter: Reporter = Arc::new(move |notice| match notice {
                Notice::Decided { response, host, event } => {
                    response.verdict().into_iter().for_each(|verdict| diagnostics.report(verdict));
                    if let Some(recorder) = &recording {
                        recorder.add(response.record(host.config(), event));
                    }
                }
                Notice::Line(line) => print::err(format!("hookbox: {line}")),
                Notice::Problem(problem) if diagnostics == Diagnostics::Off && !problem.is_error() => {}
                Notice::Problem(problem) => report::problems([&problem]),
            });
            let source = Reloading::start(self.config.clone(), self.loader(), Arc::clone(&reporter)).await;
            let mut ended = signal(SignalKind::terminate())?;
            let (mut interrupted, mut hung_up) = (signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?);
            let stop = async move {
                tokio::select! {
                    _ = ended.recv() => {}
                    _ = interrupted.recv() => {}
                    _ = hung_up.recv() => {}
                }
            };
            let input = tokio::io::BufReader::new(tokio::io::stdin());
            serve(source, budget, input, tokio::io::stdout(), stop, reporter).await?;
            anyhow::Ok(())
        });
        // Do not wait for blocking tasks (such as a read of stdin): their results are not needed any more.
        runtime.shutdown_background();
        if let Some(recorder) = recorder {
            recorder.end();
        }
        served.map(|()| Exit::Ok)
    }

    /// Everything that serving needs of the system.
    fn prepare(&self) -> anyhow::Result<(Runtime, Option<Arc<Recorder>>)> {
        super::descriptors()?;
        super::threads()?;
        let recorder = self.record.clone().map(|path| Recorder::start(path, self.chain)).transpose()?.map(Arc::new);
        Ok((tokio::runtime::Builder::new_multi_thread().enable_all().build()?, recorder))
    }

    /// Answers all requests without hooks, because the client treats a gate without an answer as open.
    fn refuse(&self, error: &anyhow::Error) -> anyhow::Result<Exit> {
        report::error(error);
        let closed = self.fail_closed || config::file_hints(&self.config).fail_closed;
        refuse(&Unavailable { reason: format!("{error:#}"), closed }, io::stdin().lock(), io::stdout().lock())?;
        Ok(Exit::of(error))
    }

    /// Loads the current file as a host.
    fn loader(&self) -> Load {
        let (path, closed, compiler) = (self.config.clone(), self.fail_closed, super::compiler());
        Box::new(move || Box::pin(load(path.clone(), closed, compiler.clone())))
    }
}

/// A host for the current file. Its hooks are loaded in the background.
async fn load(path: PathBuf, closed: bool, compiler: PathBuf) -> Result<HookSet, Unavailable> {
    let broken = |reason: String, fail_closed: bool| Unavailable { reason, closed: closed || fail_closed };
    let config = match Reader::new().dialect("picoclaw").fail_closed(closed).file(&path) {
        Ok(loaded) => {
            report::warnings(&loaded);
            loaded.config
        }
        Err(errors) => {
            let fail_closed = config::file_hints(&path).fail_closed;
            report::errors(&errors);
            let first = errors.diagnostics.iter().find(|found| found.is_error()).map(|found| found.message.clone());
            let reason = format!("{}: {}", path.display(), first.unwrap_or_else(|| "it cannot be used".into()));
            return Err(broken(reason, fail_closed));
        }
    };
    let (dialect, fail_closed) = (config.dialect.name(), config.fail_closed);
    if dialect != "picoclaw" {
        let reason = format!("{}: stdio supports only picoclaw, but this file is for {dialect}", path.display());
        return Err(broken(reason, fail_closed));
    }
    let host = HookSet::standalone().config(config).compiler(compiler).lazy().build().await;
    host.map_err(|error| broken(error.to_string(), fail_closed))
}
