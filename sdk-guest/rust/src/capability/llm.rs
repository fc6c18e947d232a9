//! Requests to the host's language model, within the hook's budget.
//!
//! ```
//! use hookbox_guest::prelude::*;
//!
//! # hookbox_guest::testing::host().on_llm(|_| Ok("yes".into()));
//! let answer = llm::Prompt::new("Does `ls /` change anything? Answer yes or no.").max_tokens(5).complete()?;
//! # assert_eq!(answer, "yes");
//! # Ok::<(), Fault>(())
//! ```

use std::fmt;

use super::host;
use crate::Fault;
use crate::bindings::shared::hookbox::hooks::llm as wit;

pub use wit::Prompt;

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The hook has used up its calls or tokens.
    Budget(String),
    /// The hook's deadline passed.
    Timeout,
    /// The request could not be sent.
    Failed(String),
}

impl Prompt {
    /// Creates a request to the configured model.
    pub fn new(user: impl Into<String>) -> Self {
        Self { model: None, system: None, user: user.into(), max_tokens: None }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Selects another model than the configured one.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Limits the number of tokens in the answer.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sends the request and waits for the answer.
    pub fn complete(&self) -> Result<String, Error> {
        Ok(host::llm::complete(self)?)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(why) => write!(f, "llm: the budget is used up: {why}"),
            Self::Timeout => f.write_str("llm: no answer in time"),
            Self::Failed(why) => write!(f, "llm: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::Budget(why) => Self::Budget(why),
            wit::Error::Timeout => Self::Timeout,
            wit::Error::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::failed(error)
    }
}
