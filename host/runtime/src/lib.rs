//! Run AI agent hooks as sandboxed WebAssembly components.
//!
//! ```no_run
//! # async fn example(event_json: &str) -> Result<(), Box<dyn std::error::Error>> {
//! use hookbox::{Host, EventContext, ToolCall};
//! use serde_json::json;
//!
//! let host = Host::builder().config_file("hooks.json")?.build().await?;
//!
//! let verdict = host.dispatch(event_json).await?; // wire in
//! println!("{}", String::from_utf8(verdict.to_bytes())?); // wire out
//! for hook in &verdict.hooks {
//!     println!("{} {:?} {:?}", hook.name, hook.outcome(), hook.fuel());
//! }
//!
//! // Typed, no wire at all:
//! let verdict = host.pre_tool_use(EventContext::default(), ToolCall::new("Bash", json!({ "command": "ls" }))).await;
//! # Ok(())
//! # }
//! ```

pub mod capability;
mod ceiling;
mod clock;
pub mod config;
pub mod error;
pub mod folders;
pub mod handler;
mod hook_set;
mod hooks;
mod host;
mod judged;
mod lines;
mod loader;
mod pipeline;
mod process;
pub use hookbox_sandbox::private;
mod record;
mod run;
mod runtime;
mod series;
mod source;
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
pub use hook_set::{Callback, HookSet, HookSetBuilder};
pub use hookbox_protocol::{
    Cause, Decision, DecisionKind, DecodeError, Dialect, Event, EventContext, EventKind, Failure, FailurePolicy, Halt,
    HookOutput, Note, NoteKind, OwnFailure, Scope, ToolCall, dialect, event, json, json::shorten, matcher,
};
pub use hookbox_sandbox::{
    self as sandbox, CompileLimits, Limits, LoadError, Loads, LogLevel, LogLine, Permissions, Run, sha256,
};
pub use host::{Host, HostBuilder};
pub use judged::{Asked, EVENT_LIMIT, Fault, Judged, OurFailure, time_for_hooks};
pub use record::{HookRecord, NoteRecord, RECORD_VERSION, Record};
pub use runtime::{Runtime, RuntimeBuilder};
pub use source::ComponentSource;
pub use tenant::Tenant;
pub use verdict::{HookReport, Status, Verdict};
