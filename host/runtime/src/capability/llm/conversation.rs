//! Conversations with a language model, independent of the provider.

use async_trait::async_trait;
use hookbox_sandbox::capability::LlmError;
use serde_json::Value;

/// A language model. The caller enforces the deadline: dropping the future cancels the request.
#[async_trait]
pub trait Model: Send + Sync {
    /// Checks if the model accepts questions under this model name, as far as that is known without a request.
    ///
    /// # Errors
    /// [`LlmError::Failed`] with the reason.
    fn check(&self, _name: Option<&str>) -> Result<(), LlmError> {
        Ok(())
    }

    /// Sends a conversation and returns the model's next message.
    async fn turn(&self, conversation: &Conversation) -> Result<Reply, LlmError>;

    /// Sends one question without tools and returns the answer.
    async fn ask(&self, question: Question) -> Result<Reply, LlmError> {
        let Question { model, system, user, max_tokens } = question;
        let messages = vec![Message::User(user)];
        let reply = self.turn(&Conversation { model, system, messages, tools: Vec::new(), max_tokens }).await?;
        if reply.text.is_empty() {
            return Err(LlmError::Failed("the response has no text".into()));
        }
        Ok(reply)
    }
}

/// One question to a [`Model`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The model's name. `None`: the configured one.
    pub model: Option<String>,
    /// The system prompt.
    pub system: Option<String>,
    /// The question.
    pub user: String,
    /// The maximum number of tokens in the answer.
    pub max_tokens: u32,
}

/// A conversation, which a [`Model`] continues.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The model's name. `None`: the configured one.
    pub model: Option<String>,
    /// The system prompt.
    pub system: Option<String>,
    /// The messages so far, in order.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// The maximum number of tokens in the next reply.
    pub max_tokens: u32,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A message to the model.
    User(String),
    /// A message of the model.
    Model(Reply),
    /// The results of the tool calls in the last reply, one for each call.
    Results(Vec<ToolResult>),
}

/// A message of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text. May be empty if there are tool calls.
    pub text: String,
    /// The tool calls whose results the model expects.
    pub calls: Vec<ToolUse>,
    /// The number of output tokens that the provider reports. `None` if it does not.
    pub tokens: Option<u32>,
    /// The message as the provider sent it. It is sent back unchanged, because some providers require fields such as
    /// signatures.
    pub wire: Value,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The tool's name.
    pub name: &'static str,
    /// The description for the model.
    pub description: &'static str,
    /// The JSON Schema of the arguments.
    pub arguments: Value,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The provider's id of the call.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, as the model wrote them. `null` if they are not valid JSON.
    pub arguments: Value,
}

/// The result of a tool call. Its text goes to the model, on success and on error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// [`ToolUse::id`] of the call.
    pub id: String,
    /// The result or the error message.
    pub result: Result<String, String>,
}
