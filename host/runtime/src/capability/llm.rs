//! The `hookbox:hooks/llm` capability, and the language models that it shares with the `prompt` and `agent` handlers.

mod conversation;
#[cfg(feature = "llm")]
mod provider;
mod settings;
#[cfg(feature = "llm")]
mod wire;

use std::sync::{Arc, atomic::Ordering};

use async_trait::async_trait;
use hookbox_sandbox::{
    capability::{Llm, LlmError, LlmPrompt, Scope},
    permission::{LlmDetails, LlmGrant},
};

pub use conversation::{Conversation, Message, Model, Question, Reply, Tool, ToolResult, ToolUse};
#[cfg(feature = "llm")]
pub use provider::HttpModel;
pub use settings::{LlmProvider, LlmSettings};

/// The maximum size of a component's question, in bytes.
pub const MAX_QUESTION: usize = 256 * 1024;

/// The llm capability of one hook.
pub struct HookLlm {
    model: Arc<dyn Model>,
    grant: LlmDetails,
}

impl HookLlm {
    /// Creates the capability from the hook's grant. `None` if the grant is `"llm": false`.
    pub fn granted(model: Arc<dyn Model>, grant: &LlmGrant) -> Option<Self> {
        Some(Self { model, grant: grant.details()? })
    }
}

#[async_trait]
impl Llm for HookLlm {
    async fn complete(&self, scope: &Scope, prompt: LlmPrompt) -> Result<String, LlmError> {
        let LlmDetails { max_calls, max_tokens } = self.grant;
        if scope.spent.llm_calls.fetch_add(1, Ordering::Relaxed) >= max_calls {
            return Err(LlmError::Budget(format!("all {max_calls} granted calls are used")));
        }
        let left = max_tokens.saturating_sub(scope.spent.llm_tokens.load(Ordering::Relaxed));
        if left == 0 {
            return Err(LlmError::Budget(format!("all {max_tokens} granted tokens are used")));
        }
        let max_tokens = prompt.max_tokens.map_or(left, |requested| requested.min(left));
        let bytes = prompt.user.len() + prompt.system.as_ref().map_or(0, String::len);
        if bytes > MAX_QUESTION {
            return Err(LlmError::Budget(format!("the prompt has {bytes} bytes, at most {MAX_QUESTION} are allowed")));
        }
        // The host chooses the model, because the host pays and knows what data may leave the machine.
        let question = Question { model: None, system: prompt.system, user: prompt.user, max_tokens };
        let requested = tokio::time::timeout_at(scope.deadline.into(), self.model.ask(question));
        let reply = requested.await.unwrap_or(Err(LlmError::Timeout))?;
        scope.spent.llm_tokens.fetch_add(reply.tokens.unwrap_or(max_tokens), Ordering::Relaxed);
        Ok(reply.text)
    }
}
