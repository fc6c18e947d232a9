//! What runs when a hook is called. Every kind of handler is one [`Handler`]; the pipeline knows no other difference.

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
    /// The event, as the hook is to see it.
    pub event: &'a Event,
    /// The dialect the hook speaks.
    pub dialect: &'static dyn Dialect,
    /// When it must be done. The pipeline drops the call then; a handler need not watch it, only clean up on drop.
    pub deadline: Instant,
}

/// Something that answers events. One is made for each hook of each hook set, and dropped with the last of the set.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Starts what lives as long as the hook set, a process for example. Called before any event; dropping the handler
    /// ends it.
    ///
    /// # Errors
    /// Why it cannot be started: the hook cannot be loaded then.
    async fn start(&self) -> Result<(), String> {
        Ok(())
    }

    /// Ends what [`Handler::start`] started: in good order, but by then at the latest. No event comes after.
    ///
    /// # Errors
    /// Notifications that may not have arrived, and why.
    async fn stop(&self, _by: std::time::Instant) -> Result<(), String> {
        Ok(())
    }

    /// Returns true if it can answer now, as far as that is known without asking.
    ///
    /// # Errors
    /// Why not.
    fn health(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns true if it takes this event at all. Components do not take events they do not export.
    fn handles(&self, _kind: EventKind) -> bool {
        true
    }

    /// SHA-256 of what runs, in hexadecimal, where that is known.
    fn digest(&self) -> Option<Arc<str>> {
        None
    }

    /// Why it cannot be used, if that is so; every call fails then.
    fn unusable(&self) -> Option<&Diagnostic> {
        None
    }

    /// Answers one event.
    async fn call(&self, call: Call<'_>) -> Run;
}

/// What a handler of the embedder's own is made from.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HandlerEntry<'a> {
    /// The hook's name.
    pub name: &'a str,
    /// Whose hook it is.
    pub tenant: &'a str,
    /// The configuration's folder, for relative paths.
    pub folder: &'a Path,
    /// What the entry says beside what every handler can say.
    pub options: &'a Object,
}

/// Makes handlers of one type: see [`RuntimeBuilder::handler`](crate::RuntimeBuilder::handler).
pub(crate) type HandlerFactory = Arc<dyn Fn(&HandlerEntry<'_>) -> Result<SharedHandler, String> + Send + Sync>;

/// Reads what a handler that speaks the dialect's JSON printed: one object, or nothing.
pub(crate) fn read_output(call: &Call<'_>, output: &[u8]) -> Result<(HookOutput, Vec<Note>), Failure> {
    hookbox_protocol::command::printed(call.dialect, call.event, output)
}

/// A limit in KiB, in bytes.
fn bytes(kib: u32) -> usize {
    usize::try_from(kib).unwrap_or(usize::MAX).saturating_mul(1024)
}

/// A handler that several hooks or hosts may share.
pub type SharedHandler = Arc<dyn Handler>;
