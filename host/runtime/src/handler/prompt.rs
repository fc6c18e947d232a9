//! The `prompt` handler: a single-turn question to a model.

use hookbox_protocol::{Event, Failure, HookOutput};

use super::judge::{MAX_TOKENS, SYSTEM, failure, fill, verdict};
use crate::capability::llm::{Model, Question};

/// Asks the model about an event. The caller keeps the time.
///
/// # Errors
/// [`hookbox_protocol::Cause::Model`] when the model cannot be asked or does not answer in the agreed form.
pub async fn run_prompt(
    model: &dyn Model,
    prompt: &str,
    name: Option<&str>,
    event: &Event,
) -> Result<HookOutput, Failure> {
    let question = Question {
        model: name.map(str::to_owned),
        system: Some(SYSTEM.to_owned()),
        user: fill(prompt, &event.raw.to_string()),
        max_tokens: MAX_TOKENS,
    };
    verdict(&model.ask(question).await.map_err(failure)?.text)
}
