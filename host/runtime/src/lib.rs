//! Run AI agent hooks as sandboxed WebAssembly components.
//!
//! ```no_run
//! # async fn example(event_json: &str) -> Result<(), Box<dyn std::error::Error>> {
//! use hookbox::{HookSet, Request};
//!
//! let hooks = HookSet::standalone().config_file("hooks.json")?.build().await?;
//!
//! let response = hooks.decide(Request::new(event_json.as_bytes())).await; // never an error
//! println!("{}", response.stdout);
//! for hook in response.report().iter().flat_map(|report| &report.hooks) {
//!     println!("{} {} {:?}", hook.hook, hook.verdict, hook.fuel);
//! }
//! # Ok(())
//! # }
//! ```

pub mod artifact;
pub mod blocking;
pub mod capability;
mod ceiling;
pub mod chain;
mod clock;
pub mod config;
mod count;
mod decide;
pub mod error;
pub mod explain;
pub mod folders;
pub mod handler;
mod hook_set;
mod hooks;
mod lines;
mod loader;
mod pipeline;
mod process;
pub use hookbox_sandbox::private;
mod record;
mod remedy;
mod request;
mod response;
mod run;
mod runtime;
mod select;
mod series;
mod source;
mod standalone;
mod telemetry;
mod tenant;
pub mod transport;
pub mod verdict;

pub use async_trait::async_trait;
#[cfg(feature = "state-sqlite")]
pub use capability::state::SqliteStore;
pub use ceiling::Ceiling;
pub use clock::later;
pub use config::{Config, Mode};
pub use error::{BuildError, DispatchError, HookError, HookLoadError};
pub use hook_set::{Callback, HookFacts, HookSet, HookSetBuilder};
pub use hookbox_protocol::{
    Cause, Decision, DecisionKind, DecodeError, Dialect, Event, EventContext, EventKind, Failure, FailurePolicy,
    Fallback, Halt, HookOutput, Note, NoteKind, Scope, ToolCall, dialect, event, json, json::shorten, matcher,
};
pub use hookbox_sandbox::{
    self as sandbox, CompileLimits, Limits, LoadError, Loads, LogLevel, LogLine, Permissions, Profile, Run, sha256,
};
pub use record::{HookRecord, NoteRecord, RECORD_VERSION, Record, Report};
pub use remedy::remedy;
pub use request::{EVENT_LIMIT, Request, time_for_hooks};
pub use response::{ErrorKind, Response, ResponseError};
pub use runtime::{Runtime, RuntimeBuilder};
pub use source::{ComponentSource, Wanted};
pub use standalone::StandaloneBuilder;
pub use tenant::Tenant;
pub use verdict::{HookReport, Status, Verdict};
