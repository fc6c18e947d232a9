//! The response to one event by the hooks of a configuration, even if the configuration is invalid.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use hookbox::{Dialect, ErrorKind, Record, Request, Response};
use rustix::process::{Resource, Signal, getrlimit};
use tokio::signal::unix::{SignalKind, signal};

use super::{BUG, EventText, Source, caller};
use crate::{
    commands::{RunningHost, event, host, runtime},
    exit::Exit,
    report,
};

/// A response, and the remaining work once the client has it.
pub(super) struct Decided {
    pub(super) response: Response,
    /// The dialect of the event, if hooks decided on it.
    pub(super) dialect: Option<&'static dyn Dialect>,
    pub(super) record: Option<Record>,
    /// The error, if no hooks ran.
    pub(super) error: Option<anyhow::Error>,
    /// The hook set to close.
    pub(super) living: Option<RunningHost>,
}

impl Decided {
    /// A response without hooks.
    pub(super) fn without_hooks(response: Response, error: Option<anyhow::Error>) -> Self {
        Self { response, dialect: None, record: None, error, living: None }
    }
}

/// Decides on the event. With `closed`, failures block regardless of the configuration.
pub(super) fn decide(
    source: &Source,
    closed: bool,
    recorded: bool,
    event: &EventText,
    request: Request<'_>,
) -> Decided {
    let decided = catch_unwind(AssertUnwindSafe(|| by_configuration(source, closed, recorded, event, request)));
    decided.unwrap_or_else(|_| {
        let (dialect, shut) = source.hints();
        Decided::without_hooks(
            Response::without_hooks(&request, dialect, closed || shut, ErrorKind::Internal, BUG),
            None,
        )
    })
}

fn by_configuration(source: &Source, closed: bool, recorded: bool, event: &EventText, request: Request<'_>) -> Decided {
    let without = |error: anyhow::Error, dialect, closed| {
        let kind = match Exit::of(&error) {
            Exit::Data => ErrorKind::Event,
            Exit::Config => ErrorKind::Config,
            _ => ErrorKind::Internal,
        };
        let response = Response::without_hooks(&request, dialect, closed, kind, &report::one_line(&error));
        Decided::without_hooks(response, Some(error))
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
        // No dialect is known, so no JSON that blocks. Clients that use exit codes treat 2 as a block.
        Err(error) => return without(error, None, closed),
    };
    let dialect = config.dialect;
    if let Err(error) = event::check(dialect, source.event.as_deref()) {
        return without(error, Some(dialect), closed);
    }
    let decided = runtime().map_err(Into::into).and_then(|runtime| {
        let decided = runtime.block_on(async {
            let host = host(config).await?;
            let response = tokio::select! {
                response = host.decide(request) => response,
                // At the soft limit of processor time, one second is left: enough to respond with what is known.
                () = out_of_time() => host.decide(request.timeout(Some(Duration::ZERO))).await,
            };
            anyhow::Ok((response, host))
        });
        match decided {
            Ok((response, host)) => Ok((response, RunningHost { host, runtime })),
            Err(error) => {
                runtime.shutdown_background();
                Err(error)
            }
        }
    });
    match decided {
        Ok((response, living)) => {
            let record =
                (recorded && response.verdict().is_some()).then(|| response.record(living.host.config(), &event.read));
            Decided { response, dialect: Some(dialect), record, error: None, living: Some(living) }
        }
        Err(error) => without(error, Some(dialect), closed),
    }
}

/// Completes when this process reaches its soft limit of processor time.
async fn out_of_time() {
    let limited = getrlimit(Resource::Cpu).current.is_some();
    match limited.then(|| signal(SignalKind::from_raw(Signal::XCPU.as_raw()))) {
        Some(Ok(mut used)) => drop(used.recv().await),
        _ => std::future::pending().await,
    }
}
