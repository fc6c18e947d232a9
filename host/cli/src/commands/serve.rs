//! `hookbox serve`: the daemon.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use hookbox_server::{Server, Settings, Traces};
use tokio::signal::unix::{SignalKind, signal};

use crate::{exit::Exit, log, print};

/// Decide for many tenants over HTTP. SIGHUP reads all files again, SIGTERM ends it when the pending requests have
/// ended.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox serve --config serve.json")]
pub struct Serve {
    /// The daemon's settings
    #[arg(long, value_name = "FILE", default_value = "serve.json")]
    config: PathBuf,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<Exit> {
        let settings = Settings::load(&self.config).map_err(|error| Exit::Config.error(error.to_string()))?;
        print::queue_stderr()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let ended = runtime.block_on(serve(settings));
        // Do not wait for blocking tasks, such as a compilation or a read from a disk that does not respond.
        runtime.shutdown_background();
        ended
    }
}

async fn serve(settings: Settings) -> anyhow::Result<Exit> {
    let traces = settings.otlp.as_deref().map(Traces::to).transpose().context("`otlp`")?;
    log::of_daemon(settings.log, traces.as_ref());
    let runtime = hookbox::Runtime::builder().compiler(super::compiler());
    // Before the addresses are printed, because a service manager may send signals from then on.
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hangup = signal(SignalKind::hangup())?;
    let server = Server::start(settings, runtime, traces.as_ref()).await.context("the daemon does not start")?;
    for address in server.addresses() {
        print::err(format_args!("hookbox: serving on {address}"));
    }
    let reload = server.reloading();
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            reload();
        }
    });
    server
        .run(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
        .await;
    // The runtime sends the last spans, so this thread must not block it.
    tokio::task::spawn_blocking(move || drop(traces)).await?;
    Ok(Exit::Ok)
}
