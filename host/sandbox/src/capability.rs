//! Host functions beyond `log` and `config`: one trait per interface of `wit/`, method for method, in plain Rust. A
//! host can implement them with its own store, HTTP client or model.
//!
//! An implementation serves one hook and holds that hook's grants; [`Scope`] identifies the call. The sandbox counts
//! host calls and ends a call at its deadline, so implementations need not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize},
    },
    time::Instant,
};

use async_trait::async_trait;
use thiserror::Error;

/// Capabilities granted to one hook. `None` means not granted: a component that imports that interface does not load.
#[derive(Clone, Default)]
pub struct Capabilities {
    /// `hookbox:hooks/state`
    pub state: Option<Arc<dyn State>>,
    /// `hookbox:hooks/http`
    pub http: Option<Arc<dyn Http>>,
    /// `hookbox:hooks/llm`
    pub llm: Option<Arc<dyn Llm>>,
}

impl std::fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let granted = |yes| if yes { "granted" } else { "no" };
        f.debug_struct("Capabilities")
            .field("state", &granted(self.state.is_some()))
            .field("http", &granted(self.http.is_some()))
            .field("llm", &granted(self.llm.is_some()))
            .finish()
    }
}

/// Identity of a call. Stored data is separated by it. It comes from the host and the event, never from the component.
#[derive(Debug)]
pub struct Scope {
    /// The tenant of the host.
    pub tenant: Arc<str>,
    /// The name under which the hook's state is stored. The caller sets it.
    pub hook: Arc<str>,
    /// The session of the event, if the client sent one.
    pub session: Option<String>,
    /// The deadline at which the call ends.
    pub deadline: Instant,
    /// Usage of the budgets that hold for one call.
    pub spent: CallUsage,
}

/// Budget that one call has used so far.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CallUsage {
    /// Number of requests to the model.
    pub llm_calls: AtomicU32,
    /// Tokens of the model's answers.
    pub llm_tokens: AtomicU32,
    /// Bytes of keys and values written to the state.
    pub state_bytes: AtomicUsize,
}

/// Keys and values that outlive a call. `wit/state.wit` documents each method. Times to live are in milliseconds.
#[async_trait]
#[allow(missing_docs)] // documented in the WIT
pub trait State: Send + Sync {
    async fn get(&self, scope: &Scope, key: &str) -> Result<Option<String>, StateError>;
    async fn set(&self, scope: &Scope, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError>;
    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool, StateError>;
    async fn increment(&self, scope: &Scope, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError>;
    async fn compare_and_swap(
        &self,
        scope: &Scope,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError>;
    async fn keys(&self, scope: &Scope, prefix: &str) -> Result<Vec<String>, StateError>;
}

/// Errors of state calls.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StateError {
    /// The key or value is too long, or the hook holds too many.
    #[error("over quota: {0}")]
    Quota(String),
    /// `increment` found a value that is not a whole number.
    #[error("the value is not a whole number")]
    NotANumber,
    /// The store is busy or broken. A retry may help.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// One HTTP exchange with a host on the hook's allow-list.
#[async_trait]
pub trait Http: Send + Sync {
    /// `wit/http.wit`, `send`.
    async fn send(&self, scope: &Scope, request: HttpRequest) -> Result<HttpResponse, HttpError>;
}

/// An HTTP request of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// For example `GET`.
    pub method: String,
    /// Absolute, `http` or `https`.
    pub url: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body, if any.
    pub body: Option<Vec<u8>>,
}

/// The response to an [`HttpRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// For example 200.
    pub status: u16,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// Errors of HTTP exchanges.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HttpError {
    /// Not on the allow-list, a private address, or a redirect that leaves the list.
    #[error("denied: {0}")]
    Denied(String),
    /// The request or the response is larger than granted.
    #[error("too large: {0}")]
    TooLarge(String),
    /// The hook's deadline passed.
    #[error("timed out")]
    Timeout,
    /// No connection, broken exchange or malformed request.
    #[error("failed: {0}")]
    Failed(String),
}

/// The host's language model, within the hook's budget.
#[async_trait]
pub trait Llm: Send + Sync {
    /// `wit/llm.wit`, `complete`.
    async fn complete(&self, scope: &Scope, prompt: LlmPrompt) -> Result<String, LlmError>;
}

/// A request to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmPrompt {
    /// Model name. Default: the configured model.
    pub model: Option<String>,
    /// System prompt.
    pub system: Option<String>,
    /// User prompt.
    pub user: String,
    /// Maximum number of tokens in the answer.
    pub max_tokens: Option<u32>,
}

/// Errors of model requests.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LlmError {
    /// The hook has used up its calls or tokens.
    #[error("over budget: {0}")]
    Budget(String),
    /// The hook's deadline passed.
    #[error("timed out")]
    Timeout,
    /// Any other error.
    #[error("failed: {0}")]
    Failed(String),
}
