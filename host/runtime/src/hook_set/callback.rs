//! Hooks that are written in code instead of a configuration file.

use std::{future::Future, sync::Arc, time::Duration};

use hookbox_protocol::{FailurePolicy, authority::Authority, matcher::Matcher};
use serde_json::Value;

use crate::{
    config::{CallbackEntry, Config, Handler, Hook, Mode},
    error::BuildError,
    handler::{Closure, SharedHandler},
};

/// The default of docs/spec/claude.md, 60 seconds. No other dialect has a longer one.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// A hook that is written in code instead of a configuration file. Like any other hook it has a matcher, a timeout, a
/// failure policy, an authority and a name.
///
/// ```
/// use std::time::Duration;
/// use hookbox::{Callback, FailurePolicy};
/// use serde_json::{Value, json};
///
/// let no_shell = Callback::new("PreToolUse", |_event: Value| async { Ok(json!({ "decision": "block" })) })
///     .matcher("Bash")
///     .name("no-shell")
///     .timeout(Duration::from_secs(2))
///     .on_failure(FailurePolicy::Deny);
/// ```
#[must_use]
pub struct Callback {
    event: String,
    handler: SharedHandler,
    matcher: Option<String>,
    name: Option<String>,
    timeout: Duration,
    on_failure: Option<FailurePolicy>,
    on_timeout: Option<FailurePolicy>,
    authority: Option<Authority>,
    mode: Mode,
}

impl Callback {
    /// Creates a callback from a closure for one event. `event` is the event's wire name (`canUseTool` for the
    /// permission callback). The closure takes the event's JSON. It returns the dialect's output JSON (`null` for no
    /// output), or the reason of its failure.
    pub fn new<F, R>(event: impl Into<String>, closure: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Self::of(event, Arc::new(Closure::new(closure)))
    }

    /// Like [`Callback::new`], with any handler.
    pub fn of(event: impl Into<String>, handler: SharedHandler) -> Self {
        Self {
            event: event.into(),
            handler,
            matcher: None,
            name: None,
            timeout: DEFAULT_TIMEOUT,
            on_failure: None,
            on_timeout: None,
            authority: None,
            mode: Mode::Enforce,
        }
    }

    /// Creates a callback from a closure and the options in a [`CallbackEntry`].
    ///
    /// ```
    /// use hookbox::{Callback, config::CallbackEntry};
    /// use serde_json::{Value, json};
    ///
    /// let entry: CallbackEntry = serde_json::from_value(json!({ "event": "PreToolUse", "onFailure": "block" }))?;
    /// let silent = Callback::described(entry, |_event: Value| async { Ok(Value::Null) });
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    pub fn described<F, R>(entry: CallbackEntry, closure: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let CallbackEntry { event, matcher, name, timeout, on_failure, on_timeout, authority, mode } = entry;
        let plain = Self::new(event, closure);
        let timeout = timeout.unwrap_or(plain.timeout);
        Self { matcher, name, timeout, on_failure, on_timeout, authority, mode, ..plain }
    }

    /// Sets the matcher, as in the configuration. Default: every event of this name.
    pub fn matcher(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Sets the name in records, metrics and diagnostics. Default: `callback` and its number.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the timeout. Default: 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the failure policy. Default: the dialect's.
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.on_failure = Some(policy);
        self
    }

    /// Sets the failure policy for timeouts. Default: the policy for other failures.
    pub fn on_timeout(mut self, policy: FailurePolicy) -> Self {
        self.on_timeout = Some(policy);
        self
    }

    /// Sets the authority: what the callback may decide and rewrite. Default: everything.
    pub fn authority(mut self, authority: Authority) -> Self {
        self.authority = Some(authority);
        self
    }

    /// Sets the mode: enforce its decisions, or only monitor them. Default: [`Mode::Enforce`].
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The configuration entry of the callback, and its handler.
    pub(super) fn resolve(self, config: &Config, number: usize) -> Result<(Hook, SharedHandler), BuildError> {
        let spec = config.dialect.spec_by_name(&self.event).unwrap_or(config.dialect.other_spec());
        let compiled = match config.dialect.match_style_of(spec) {
            Some(style) => Matcher::compile(style, self.matcher.as_deref())
                .map_err(|error| BuildError::Matcher(self.event.clone(), error))?,
            None => Matcher::Everything,
        };
        let hook = Hook {
            name: self.name.unwrap_or_else(|| format!("callback {number}")),
            pointer: String::new(),
            events: vec![self.event],
            matcher: compiled,
            matcher_text: self.matcher,
            observe_only: false,
            sequential: false,
            timeout: self.timeout,
            timeout_given: true,
            output_kib: hookbox_sandbox::Limits::default().output_kib,
            on_failure: self.on_failure,
            on_timeout: self.on_timeout.or(self.on_failure),
            authority: self.authority,
            mode: self.mode,
            handler: Handler::Callback,
        };
        Ok((hook, self.handler))
    }
}
