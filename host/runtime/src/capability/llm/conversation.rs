//! Talking to a language model, in no provider's words.

use async_trait::async_trait;
use hookbox_sandbox::capability::LlmError;
use serde_json::Value;

/// A language model. The caller keeps the time: dropping the future ends the question.
#[async_trait]
pub trait Model: Send + Sync {
    /// Returns true if questions under this name of a model can be asked at all, as far as that is known before the first one.
    ///
    /// # Errors
    /// [`LlmError::Failed`] with what is wrong.
    fn check(&self, _name: Option<&str>) -> Result<(), LlmError> {
        Ok(())
    }

    /// Takes a conversation one turn further.
    async fn turn(&self, conversation: &Conversation) -> Result<Reply, LlmError>;

    /// Answers one question, without tools.
    async fn ask(&self, question: Question) -> Result<Reply, LlmError> {
        let Question { model, system, user, max_tokens } = question;
        let messages = vec![Message::User(user)];
        let reply = self.turn(&Conversation { model, system, messages, tools: Vec::new(), max_tokens }).await?;
        if reply.text.is_empty() {
            return Err(LlmError::Failed("the response holds no text".into()));
        }
        Ok(reply)
    }
}

/// One question to a [`Model`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The configured model when absent.
    pub model: Option<String>,
    /// What the model is told about its task.
    pub system: Option<String>,
    /// The question.
    pub user: String,
    /// Tokens of the answer at most.
    pub max_tokens: u32,
}

/// A conversation so far, which a [`Model`] is to continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The configured model when absent.
    pub model: Option<String>,
    /// What the model is told about its task.
    pub system: Option<String>,
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// Tokens of the next reply at most.
    pub max_tokens: u32,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the model was asked.
    User(String),
    /// What it said.
    Model(Reply),
    /// What the calls of its last reply came to: one result for each.
    Results(Vec<ToolResult>),
}

/// What a model said in one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its text; may be empty when there are calls.
    pub text: String,
    /// The tools it wants called before it goes on.
    pub calls: Vec<ToolUse>,
    /// Tokens it cost, as the provider counts; `None` when it does not say.
    pub tokens: Option<u32>,
    /// The message as the provider sent it. It goes back as it came: some providers put things into it, such as
    /// signatures, that they want to see again.
    pub wire: Value,
}

/// A tool a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub arguments: Value,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The provider's name for this call.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// Its arguments, as the model wrote them; null when they were not JSON.
    pub arguments: Value,
}

/// What a call of a tool came to: text for the model, either way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// [`ToolUse::id`] of the call.
    pub id: String,
    /// The result, or why there is none.
    pub result: Result<String, String>,
}
