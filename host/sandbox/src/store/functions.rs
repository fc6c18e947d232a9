//! The host functions of `hookbox:hooks`. Each counts the call and passes it to the capability.

use super::{LimitReached, Sandbox};
use crate::{
    bindings::hookbox::hooks::{config, event, http, llm, log, state, types},
    capability::{HttpError, HttpRequest, LlmError, LlmPrompt, Scope, StateError},
    run::{LogLevel, LogLine},
};

/// Bytes that a log line costs in addition to its text, so that empty lines reach the limit, too.
const LINE_BYTES: u64 = 16;
/// Error when the host does not provide a granted capability. A component without the grant is refused at load time.
const WITHHELD: &str = "this host does not offer it";

impl Sandbox {
    /// Counts one host call. Every host function starts with it.
    fn host_call(&mut self) -> Result<(), LimitReached> {
        self.host_calls.take(1).map_err(LimitReached::HostCalls)
    }
}

impl types::Host for Sandbox {}

impl log::Host for Sandbox {
    fn log(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.host_call()?;
        self.log_bytes.take(message.len() as u64 + LINE_BYTES).map_err(LimitReached::LogFlood)?;
        let level = match level {
            log::Level::Debug => LogLevel::Debug,
            log::Level::Info => LogLevel::Info,
            log::Level::Warn => LogLevel::Warn,
            log::Level::Error => LogLevel::Error,
        };
        self.logs.push(LogLine { level, message });
        Ok(())
    }
}

impl config::Host for Sandbox {
    fn get(&mut self) -> wasmtime::Result<String> {
        self.host_call()?;
        Ok(self.config_json.to_string())
    }
}

impl event::Host for Sandbox {
    fn raw(&mut self) -> wasmtime::Result<String> {
        self.host_call()?;
        Ok(self.raw_event.to_text())
    }
}

impl Sandbox {
    fn state(&mut self) -> Result<Result<(&dyn crate::capability::State, &Scope), state::Error>, LimitReached> {
        self.host_call()?;
        let state = self.capabilities.state.as_deref();
        Ok(state.map(|state| (state, &self.scope)).ok_or_else(|| state::Error::Unavailable(WITHHELD.into())))
    }
}

/// Passes one state call to the store.
macro_rules! state {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        match $self.state()? {
            Ok((state, scope)) => Ok(state.$method(scope, $($argument),*).await.map_err(Into::into)),
            Err(withheld) => Ok(Err(withheld)),
        }
    };
}

impl state::Host for Sandbox {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, state::Error>> {
        state!(self, get(&key))
    }

    async fn set(
        &mut self,
        key: String,
        value: String,
        ttl_ms: Option<u64>,
    ) -> wasmtime::Result<Result<(), state::Error>> {
        state!(self, set(&key, &value, ttl_ms))
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, state::Error>> {
        state!(self, delete(&key))
    }

    async fn increment(
        &mut self,
        key: String,
        by: i64,
        ttl_ms: Option<u64>,
    ) -> wasmtime::Result<Result<i64, state::Error>> {
        state!(self, increment(&key, by, ttl_ms))
    }

    async fn compare_and_swap(
        &mut self,
        key: String,
        expected: Option<String>,
        value: String,
        ttl_ms: Option<u64>,
    ) -> wasmtime::Result<Result<bool, state::Error>> {
        state!(self, compare_and_swap(&key, expected.as_deref(), &value, ttl_ms))
    }

    async fn keys(&mut self, prefix: String) -> wasmtime::Result<Result<Vec<String>, state::Error>> {
        state!(self, keys(&prefix))
    }
}

impl From<StateError> for state::Error {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Quota(text) => Self::Quota(text),
            StateError::NotANumber => Self::NotANumber,
            StateError::Unavailable(text) => Self::Unavailable(text),
        }
    }
}

impl http::Host for Sandbox {
    async fn send(&mut self, request: http::Request) -> wasmtime::Result<Result<http::Response, http::Error>> {
        self.host_call()?;
        let Some(http) = self.capabilities.http.as_deref() else {
            return Ok(Err(http::Error::Denied(WITHHELD.into())));
        };
        let http::Request { method, url, headers, body } = request;
        let output = http.send(&self.scope, HttpRequest { method, url, headers, body }).await;
        Ok(output.map(|r| http::Response { status: r.status, headers: r.headers, body: r.body }).map_err(|error| {
            match error {
                HttpError::Denied(text) => http::Error::Denied(text),
                HttpError::TooLarge(text) => http::Error::TooLarge(text),
                HttpError::Timeout => http::Error::Timeout,
                HttpError::Failed(text) => http::Error::Failed(text),
            }
        }))
    }
}

impl llm::Host for Sandbox {
    async fn complete(&mut self, prompt: llm::Prompt) -> wasmtime::Result<Result<String, llm::Error>> {
        self.host_call()?;
        let Some(llm) = self.capabilities.llm.as_deref() else { return Ok(Err(llm::Error::Failed(WITHHELD.into()))) };
        let llm::Prompt { model, system, user, max_tokens } = prompt;
        let output = llm.complete(&self.scope, LlmPrompt { model, system, user, max_tokens }).await;
        Ok(output.map_err(|error| match error {
            LlmError::Budget(text) => llm::Error::Budget(text),
            LlmError::Timeout => llm::Error::Timeout,
            LlmError::Failed(text) => llm::Error::Failed(text),
        }))
    }
}
