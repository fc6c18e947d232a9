//! `hookbox:hooks/llm`, and the language models behind it and behind the `prompt` and `agent`
//! handlers.

mod conversation;
mod wire;

use std::{
    env,
    sync::{Arc, atomic::Ordering},
};

use async_trait::async_trait;
use reqwest::{
    Method, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use super::{
    HttpError, Llm, LlmError, LlmPrompt, Scope,
    http::client::{Exchange, Reach, send},
};
use crate::config::types::{LlmDetails, LlmGrant, LlmProvider, LlmSettings};

pub use conversation::{Conversation, Message, Model, Question, Reply, Tool, ToolResult, ToolUse};

/// Bytes of a provider's response at most.
const MAX_RESPONSE: usize = 4 * 1024 * 1024;

/// A model behind a provider's HTTP interface.
#[derive(Clone)]
pub struct HttpModel {
    provider: LlmProvider,
    endpoint: Url,
    model: Option<String>,
    headers: HeaderMap,
}

impl HttpModel {
    /// The model of these settings, with the key from the environment. An `OpenAI`-compatible server of one's own may
    /// do without a key.
    ///
    /// # Errors
    /// [`LlmError::Failed`] for a base URL that is none, or a key that is missing or no header value.
    pub fn new(settings: &LlmSettings) -> Result<Self, LlmError> {
        let failed = |why: String| LlmError::Failed(why);
        let wire = wire::of(settings.provider);
        let base = settings.base_url.as_deref().unwrap_or(wire.base_url);
        let endpoint = format!("{}{}", base.trim_end_matches('/'), wire.path);
        let endpoint = Url::parse(&endpoint).map_err(|e| failed(format!("the base URL `{base}`: {e}")))?;
        let variable = settings.api_key_env.as_deref().unwrap_or(wire.key_variable);
        let key = env::var(variable).ok().filter(|key| !key.is_empty());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in wire.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        match key {
            Some(key) => {
                let value = HeaderValue::from_str(&format!("{}{key}", wire.key_prefix));
                let mut value = value.map_err(|_| failed(format!("the key in {variable} is not a header value")))?;
                value.set_sensitive(true);
                headers.insert(HeaderName::from_static(wire.key_header), value);
            }
            None if settings.provider == LlmProvider::OpenaiCompatible && settings.base_url.is_some() => {}
            None => return Err(failed(format!("no key: the environment variable {variable} is not set"))),
        }
        Ok(Self { provider: settings.provider, endpoint, model: settings.model.clone(), headers })
    }

    /// The name that is sent to the provider: the one asked for, or the one of the settings.
    pub(crate) fn name<'a>(&'a self, asked: Option<&'a str>) -> Result<&'a str, LlmError> {
        let name = asked.or(self.model.as_deref());
        name.ok_or_else(|| LlmError::Failed("no model is named, nor one configured".into()))
    }
}

#[async_trait]
impl Model for HttpModel {
    async fn turn(&self, conversation: &Conversation) -> Result<Reply, LlmError> {
        let model = self.name(conversation.model.as_deref())?;
        let wire = wire::of(self.provider);
        let response = send(Exchange {
            reach: Reach::Anywhere,
            method: Method::POST,
            url: self.endpoint.clone(),
            headers: self.headers.clone(),
            body: Some((wire.request)(model, conversation).to_string().into_bytes()),
            max_response: MAX_RESPONSE,
        })
        .await
        .map_err(|error| match error {
            HttpError::Timeout => LlmError::Timeout,
            other => LlmError::Failed(other.to_string()),
        })?;
        let body = hookbox_protocol::json::parse(&response.body);
        if response.status != 200 {
            let why = body.ok().and_then(|body| Some(body.pointer("/error/message")?.as_str()?.to_owned()));
            let why = hookbox_protocol::json::shorten(&why.unwrap_or_default(), 200);
            return Err(LlmError::Failed(format!("status {} {why}", response.status)));
        }
        let body = body.map_err(|e| LlmError::Failed(format!("the response: {e}")))?;
        (wire.reply)(&body).ok_or_else(|| LlmError::Failed("the response holds no message".into()))
    }
}

/// The llm capability of one hook.
pub struct HookLlm {
    model: Arc<dyn Model>,
    grant: LlmDetails,
}

impl HookLlm {
    /// The capability that `grant` gives over `model`; `None` when it gives none (`"llm": false`).
    pub fn granted(model: Arc<dyn Model>, grant: &LlmGrant) -> Option<Self> {
        let grant = match grant {
            LlmGrant::Enabled(false) => return None,
            LlmGrant::Enabled(true) => LlmDetails::default(),
            LlmGrant::Detailed(details) => details.clone(),
        };
        Some(Self { model, grant })
    }
}

#[async_trait]
impl Llm for HookLlm {
    async fn complete(&self, scope: &Scope, prompt: LlmPrompt) -> Result<String, LlmError> {
        let LlmDetails { max_calls, max_tokens } = self.grant;
        if scope.spent.llm_calls.fetch_add(1, Ordering::Relaxed) >= max_calls {
            return Err(LlmError::Budget(format!("{max_calls} calls are granted")));
        }
        let left = max_tokens.saturating_sub(scope.spent.llm_tokens.load(Ordering::Relaxed));
        if left == 0 {
            return Err(LlmError::Budget(format!("{max_tokens} tokens are granted")));
        }
        let max_tokens = prompt.max_tokens.map_or(left, |asked| asked.min(left));
        let question = Question { model: prompt.model, system: prompt.system, user: prompt.user, max_tokens };
        let asked = tokio::time::timeout_at(scope.deadline.into(), self.model.ask(question));
        let reply = asked.await.unwrap_or(Err(LlmError::Timeout))?;
        scope.spent.llm_tokens.fetch_add(reply.tokens.unwrap_or(max_tokens), Ordering::Relaxed);
        Ok(reply.text)
    }
}
