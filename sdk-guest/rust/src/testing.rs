//! A simulated host, for testing hooks with plain `cargo test`. It is not part of components.
//!
//! ```
//! use hookbox_guest::prelude::*;
//! use hookbox_guest::testing;
//!
//! struct Once;
//!
//! impl PreToolUse for Once {
//!     fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
//!         Ok(if state::increment(&call.name, 1)? > 1 { skip("once is enough") } else { pass() })
//!     }
//! }
//!
//! let host = testing::host();
//! let call = ToolCall::new("Bash", json!({"command": "ls"}));
//! assert_eq!(Once::handle(&EventContext::default(), &call), Ok(pass()));
//! assert_eq!(Once::handle(&EventContext::default(), &call), Ok(skip("once is enough")));
//! assert_eq!(host.state("Bash").as_deref(), Some("2"));
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde_json::Value;

use crate::http::{Request, Response};
use crate::llm::Prompt;
use crate::log::Level;

/// Resets the host of this thread and returns it: without configuration, state, logs, network and model.
pub fn host() -> Host {
    HOST.take();
    Host(PhantomData)
}

/// The simulated host of this thread.
#[derive(Clone, Copy, Debug)]
pub struct Host(PhantomData<*const ()>);

#[allow(clippy::return_self_not_must_use)] // the value is a handle: nothing is lost with it
impl Host {
    /// Sets the hook's configuration.
    #[allow(clippy::needless_pass_by_value)] // `json!` makes a value
    pub fn config(self, config: Value) -> Self {
        HOST.with_borrow_mut(|host| host.config = Some(config.to_string()));
        self
    }

    /// Sets the event as the client sent it.
    #[allow(clippy::needless_pass_by_value)] // `json!` makes a value
    pub fn raw_event(self, event: Value) -> Self {
        HOST.with_borrow_mut(|host| host.raw_event = Some(event.to_string()));
        self
    }

    /// Sets a value in the state.
    pub fn set_state(self, key: &str, value: &str) -> Self {
        HOST.with_borrow_mut(|host| host.state.insert(key.to_owned(), value.to_owned()));
        self
    }

    /// Sets the function that answers HTTP requests.
    pub fn on_http(self, answer: impl Fn(&Request) -> Result<Response, crate::http::Error> + 'static) -> Self {
        HOST.with_borrow_mut(|host| host.http = Some(Box::new(answer)));
        self
    }

    /// Sets the function that answers prompts.
    pub fn on_llm(self, answer: impl Fn(&Prompt) -> Result<String, crate::llm::Error> + 'static) -> Self {
        HOST.with_borrow_mut(|host| host.llm = Some(Box::new(answer)));
        self
    }

    /// Returns a value in the state.
    pub fn state(self, key: &str) -> Option<String> {
        HOST.with_borrow(|host| host.state.get(key).cloned())
    }

    /// Returns the state's keys, in byte order.
    pub fn keys(self) -> Vec<String> {
        HOST.with_borrow(|host| host.state.keys().cloned().collect())
    }

    /// Returns the logged messages.
    pub fn logs(self) -> Vec<(Level, String)> {
        HOST.with_borrow(|host| host.logs.clone())
    }
}

type Handler<Q, A, E> = Box<dyn Fn(&Q) -> Result<A, E>>;

#[derive(Default)]
struct Pretended {
    config: Option<String>,
    raw_event: Option<String>,
    state: BTreeMap<String, String>,
    logs: Vec<(Level, String)>,
    http: Option<Handler<Request, Response, crate::http::Error>>,
    llm: Option<Handler<Prompt, String, crate::llm::Error>>,
}

thread_local! {
    static HOST: RefCell<Pretended> = RefCell::default();
}

// The capabilities' functions, with the names and parameters of the generated ones. Times to live are ignored, because
// a test ends sooner.

pub(crate) mod log {
    use super::{HOST, Level};

    pub(crate) fn log(level: Level, message: &str) {
        HOST.with_borrow_mut(|host| host.logs.push((level, message.to_owned())));
    }
}

pub(crate) mod config {
    use super::HOST;

    pub(crate) fn get() -> String {
        HOST.with_borrow(|host| host.config.clone().unwrap_or_else(|| "{}".to_owned()))
    }
}

pub(crate) mod event {
    use super::HOST;

    pub(crate) fn raw() -> String {
        HOST.with_borrow(|host| host.raw_event.clone().unwrap_or_else(|| "{}".to_owned()))
    }
}

pub(crate) mod state {
    use super::HOST;
    use crate::bindings::shared::hookbox::hooks::state::Error;

    type Result<T> = std::result::Result<T, Error>;

    #[allow(clippy::unnecessary_wraps)] // the real one can fail
    pub(crate) fn get(key: &str) -> Result<Option<String>> {
        Ok(HOST.with_borrow(|host| host.state.get(key).cloned()))
    }

    #[allow(clippy::unnecessary_wraps)] // the real one can fail
    pub(crate) fn set(key: &str, value: &str, _ttl_ms: Option<u64>) -> Result<()> {
        HOST.with_borrow_mut(|host| host.state.insert(key.to_owned(), value.to_owned()));
        Ok(())
    }

    #[allow(clippy::unnecessary_wraps)] // the real one can fail
    pub(crate) fn delete(key: &str) -> Result<bool> {
        Ok(HOST.with_borrow_mut(|host| host.state.remove(key).is_some()))
    }

    pub(crate) fn increment(key: &str, by: i64, _ttl_ms: Option<u64>) -> Result<i64> {
        HOST.with_borrow_mut(|host| {
            let value = host.state.entry(key.to_owned()).or_insert_with(|| "0".to_owned());
            let sum = value.parse::<i64>().ok().and_then(|value| value.checked_add(by)).ok_or(Error::NotANumber)?;
            *value = sum.to_string();
            Ok(sum)
        })
    }

    #[allow(clippy::unnecessary_wraps)] // the real one can fail
    pub(crate) fn compare_and_swap(
        key: &str,
        expected: Option<&str>,
        value: &str,
        _ttl_ms: Option<u64>,
    ) -> Result<bool> {
        HOST.with_borrow_mut(|host| {
            let same = host.state.get(key).map(String::as_str) == expected;
            if same {
                host.state.insert(key.to_owned(), value.to_owned());
            }
            Ok(same)
        })
    }

    #[allow(clippy::unnecessary_wraps)] // the real one can fail
    pub(crate) fn keys(prefix: &str) -> Result<Vec<String>> {
        Ok(HOST.with_borrow(|host| host.state.keys().filter(|key| key.starts_with(prefix)).cloned().collect()))
    }
}

pub(crate) mod http {
    use super::{HOST, Request, Response};
    use crate::bindings::shared::hookbox::hooks::http as wit;
    use crate::http::Error;

    pub(crate) fn send(request: &Request) -> Result<Response, wit::Error> {
        HOST.with_borrow(|host| match &host.http {
            Some(answer) => answer(request).map_err(|error| match error {
                Error::Denied(why) => wit::Error::Denied(why),
                Error::TooLarge(why) => wit::Error::TooLarge(why),
                Error::Timeout => wit::Error::Timeout,
                Error::Failed(why) => wit::Error::Failed(why),
            }),
            None => Err(wit::Error::Denied("the test answers no requests, see `on_http`".to_owned())),
        })
    }
}

pub(crate) mod llm {
    use super::{HOST, Prompt};
    use crate::bindings::shared::hookbox::hooks::llm as wit;
    use crate::llm::Error;

    pub(crate) fn complete(prompt: &Prompt) -> Result<String, wit::Error> {
        HOST.with_borrow(|host| match &host.llm {
            Some(answer) => answer(prompt).map_err(|error| match error {
                Error::Budget(why) => wit::Error::Budget(why),
                Error::Timeout => wit::Error::Timeout,
                Error::Failed(why) => wit::Error::Failed(why),
            }),
            None => Err(wit::Error::Failed("the test answers no prompts, see `on_llm`".to_owned())),
        })
    }
}
