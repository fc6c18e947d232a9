//! Functions of the host as hooks, in one chain with components.

use std::{future::Future, pin::Pin, sync::Arc};

use hookbox::{Callback, config::CallbackEntry};
use serde_json::Value;

use crate::error::{Code, Error};

/// The answer of a host's function: the dialect's output as JSON (`null` for no output), or the reason of its failure.
pub type Answer = Result<String, String>;

type Ask = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync>;

/// A function of the host as a hook. Like a hook of a configuration it has an event, a matcher, a name, a timeout, a failure policy,
/// an authority and a mode. If the function fails, never answers or answers anything but the dialect's output, the hook has failed.
pub struct HostHook {
    entry: CallbackEntry,
    ask: Ask,
}

impl HostHook {
    /// Reads the description of a hook from JSON. `ask` receives the event's JSON.
    ///
    /// # Errors
    /// [`Code::Options`]
    pub fn new<F, R>(entry: &str, ask: F) -> Result<Self, Error>
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Answer> + Send + 'static,
    {
        let entry = serde_json::from_str(entry).map_err(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
            Error::new(Code::Options, format!("invalid hook: {message}"))
        })?;
        Ok(Self { entry, ask: Arc::new(move |event| Box::pin(ask(event))) })
    }

    pub(crate) fn event(&self) -> &str {
        self.entry.event()
    }

    pub(crate) fn callback(self) -> Callback {
        let ask = self.ask;
        Callback::described(self.entry, move |event: Value| {
            let answer = ask(event.to_string());
            async move {
                let text = answer.await?;
                serde_json::from_str(&text).map_err(|error| format!("its response is not JSON: {error}"))
            }
        })
    }
}
