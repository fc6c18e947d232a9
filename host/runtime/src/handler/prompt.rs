//! The `prompt` handler: a single question to a model.

use std::sync::Arc;

use async_trait::async_trait;
use hookbox_protocol::{Event, Failure, HookOutput};
use hookbox_sandbox::Run;

use super::{
    Call, Handler,
    question::{MAX_TOKENS, SYSTEM, answer, failure, fill},
};
use crate::capability::llm::{Model, Question};

/// A `prompt` handler.
pub(crate) struct Prompt {
    /// The model.
    pub(crate) model: Arc<dyn Model>,
    /// The prompt. `$ARGUMENTS` is replaced by the event.
    pub(crate) question: String,
    /// The model's name. Default: the one in the settings.
    pub(crate) model_name: Option<String>,
}

#[async_trait]
impl Handler for Prompt {
    async fn call(&self, call: Call<'_>) -> Run {
        Run::new(run_prompt(self.model.as_ref(), &self.question, self.model_name.as_deref(), call.event).await)
    }
}

/// Asks the model about an event. The caller enforces the deadline.
///
/// # Errors
/// [`hookbox_protocol::Cause::Model`] if the request to the model fails or the answer is invalid.
pub async fn run_prompt(
    model: &dyn Model,
    prompt: &str,
    name: Option<&str>,
    event: &Event,
) -> Result<HookOutput, Failure> {
    let question = Question {
        model: name.map(str::to_owned),
        system: Some(SYSTEM.to_owned()),
        user: fill(prompt, event.raw.text()),
        max_tokens: MAX_TOKENS,
    };
    answer(&model.ask(question).await.map_err(failure)?.text)
}
