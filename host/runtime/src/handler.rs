//! The code that runs when a hook is called. Every type of handler implements [`Handler`]; the pipeline treats them
//! alike.

pub mod agent;
mod closure;
mod command;
mod component;
mod failed;
pub mod http;
mod process;
pub mod prompt;
mod question;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use hookbox_protocol::{Dialect, Event, EventKind, Failure, HookOutput, Note, json::Object};
use hookbox_sandbox::Run;
use tokio::time::Instant;

pub(crate) use agent::Agent;
pub(crate) use closure::Closure;
pub(crate) use command::Command;
pub(crate) use component::Component;
pub(crate) use failed::Failed;
pub(crate) use http::Http;
pub(crate) use process::{Process, Spec as ProcessSpec};
pub(crate) use prompt::Prompt;

use crate::config::Diagnostic;

/// One call of one hook.
#[non_exhaustive]
pub struct Call<'a> {
    /// The event, in the form that the hook gets.
    pub event: &'a Event,
    /// The dialect of the hook's JSON.
    pub dialect: &'static dyn Dialect,
    /// The deadline. The pipeline drops the call then, so a handler only has to clean up on drop.
    pub deadline: Instant,
}

/// A handler of events. Each hook of each hook set has its own, which is dropped with the last clone of the hook set.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Starts resources that live as long as the hook set, such as a process. Called before any event. Dropping the
    /// handler stops them.
    ///
    /// # Errors
    /// The reason why it cannot start. The hook then fails to load.
    async fn start(&self) -> Result<(), String> {
        Ok(())
    }

    /// Stops gracefully what [`Handler::start`] started, at the latest at `by`. No event follows.
    ///
    /// # Errors
    /// The notifications that may not have been delivered, and the reason.
    async fn stop(&self, _by: std::time::Instant) -> Result<(), String> {
        Ok(())
    }

    /// Returns `Ok` if the handler can take events now, as far as that is known without a call.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn health(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns true if the handler takes events of this kind. A component takes only the events that it exports.
    fn handles(&self, _kind: EventKind) -> bool {
        true
    }

    /// The SHA-256 of the handler's code in hexadecimal, if known.
    fn digest(&self) -> Option<Arc<str>> {
        None
    }

    /// The publisher of the handler's code, if their signature was verified: `key:sha256:…` or an identity.
    fn publisher(&self) -> Option<Arc<str>> {
        None
    }

    /// The diagnostic why the handler cannot be used. `None` if it can. While there is one, every call fails.
    fn unusable(&self) -> Option<&Diagnostic> {
        None
    }

    /// Handles one event.
    async fn call(&self, call: Call<'_>) -> Run;
}

/// The configuration entry from which an embedder's handler is created.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HandlerEntry<'a> {
    /// The hook's name.
    pub name: &'a str,
    /// The name of the tenant that owns the hook.
    pub tenant: &'a str,
    /// The configuration's folder, for relative paths.
    pub folder: &'a Path,
    /// The entry's own options, without those that every handler has.
    pub options: &'a Object,
}

/// Creates handlers of one type. See [`RuntimeBuilder::handler`](crate::RuntimeBuilder::handler).
pub(crate) type HandlerFactory = Arc<dyn Fn(&HandlerEntry<'_>) -> Result<SharedHandler, String> + Send + Sync>;

/// Reads the output of a handler in the dialect's JSON: one object, or nothing.
pub(crate) fn read_output(call: &Call<'_>, output: &[u8]) -> Result<(HookOutput, Vec<Note>), Failure> {
    call.dialect.read_stdout(call.event, output)
}

/// Converts KiB to bytes.
fn bytes(kib: u32) -> usize {
    usize::try_from(kib).unwrap_or(usize::MAX).saturating_mul(1024)
}

/// A handler that several hooks or hook sets may share.
pub type SharedHandler = Arc<dyn Handler>;
