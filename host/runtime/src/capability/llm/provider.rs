//! Models behind a provider's HTTP API.

use std::{env, sync::Arc};

use async_trait::async_trait;
use hookbox_sandbox::capability::{HttpError, LlmError};
use http::HeaderValue;
use url::Url;

use super::{Conversation, LlmProvider, LlmSettings, Model, Reply, wire};
use crate::capability::http::{Exchange, HttpClient, Reach};

/// The maximum size of a request to a provider, in bytes. Requests of `prompt` and `agent` handlers contain the event.
const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// The maximum size of a provider's response, in bytes.
const MAX_RESPONSE: usize = 4 * 1024 * 1024;

/// A model behind a provider's HTTP API.
#[derive(Clone)]
pub struct HttpModel {
    client: Arc<dyn HttpClient>,
    provider: LlmProvider,
    endpoint: String,
    model: Option<String>,
    headers: Vec<(String, String)>,
}

impl HttpModel {
    /// Creates a model from the settings. Reads the API key from the environment. Without a key, only an
    /// `OpenAI`-compatible server with its own base URL is accepted.
    ///
    /// # Errors
    /// [`LlmError::Failed`] if the base URL is invalid, or the key is missing or not a valid header value.
    pub fn new(client: Arc<dyn HttpClient>, settings: &LlmSettings) -> Result<Self, LlmError> {
        let failed = |why: String| LlmError::Failed(why);
        let wire = wire::of(settings.provider);
        let base = settings.base_url.as_deref().unwrap_or(wire.base_url);
        let endpoint = format!("{}{}", base.trim_end_matches('/'), wire.path);
        Url::parse(&endpoint).map_err(|e| failed(format!("the base URL `{base}`: {e}")))?;
        let variable = settings.api_key_env.as_deref().unwrap_or(wire.key_variable);
        let key = env::var(variable).ok().filter(|key| !key.is_empty());
        let customary = wire.headers.iter().copied().chain([("content-type", "application/json")]);
        let mut headers: Vec<_> = customary.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        match key {
            Some(key) => {
                let value = format!("{}{key}", wire.key_prefix);
                HeaderValue::from_str(&value)
                    .map_err(|_| failed(format!("the key in {variable} is not a header value")))?;
                headers.push((wire.key_header.to_owned(), value));
            }
            None if settings.provider == LlmProvider::OpenaiCompatible && settings.base_url.is_some() => {}
            None => return Err(failed(format!("no key: the environment variable {variable} is not set"))),
        }
        Ok(Self { client, provider: settings.provider, endpoint, model: settings.model.clone(), headers })
    }
}

impl HttpModel {
    /// The model name for the provider: the requested one, or else the one in the settings.
    fn name<'a>(&'a self, requested: Option<&'a str>) -> Result<&'a str, LlmError> {
        let name = requested.or(self.model.as_deref());
        name.ok_or_else(|| LlmError::Failed("no model is configured".into()))
    }
}

#[async_trait]
impl Model for HttpModel {
    fn check(&self, name: Option<&str>) -> Result<(), LlmError> {
        self.name(name).map(drop)
    }

    async fn turn(&self, conversation: &Conversation) -> Result<Reply, LlmError> {
        let model = self.name(conversation.model.as_deref())?;
        let wire = wire::of(self.provider);
        let request = (wire.request)(model, conversation).to_string().into_bytes();
        if request.len() > MAX_REQUEST {
            return Err(LlmError::Failed(format!("the request has {} bytes, more than {MAX_REQUEST}", request.len())));
        }
        let exchange = Exchange {
            reach: Reach::Anywhere,
            method: "POST".to_owned(),
            url: self.endpoint.clone(),
            headers: self.headers.clone(),
            body: Some(request),
            max_response: MAX_RESPONSE,
        };
        let response = self.client.send(exchange).await.map_err(|error| match error {
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
        (wire.reply)(&body).ok_or_else(|| LlmError::Failed("the response has no message".into()))
    }
}
