//! What the providers' interfaces look like. Streaming is off in both.

use serde_json::{Value, json};

use super::{Question, Reply};
use crate::config::types::LlmProvider;

/// One provider's interface.
pub(super) struct Wire {
    pub(super) base_url: &'static str,
    pub(super) path: &'static str,
    pub(super) key_variable: &'static str,
    pub(super) key_header: &'static str,
    pub(super) key_prefix: &'static str,
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) request: fn(&str, &Question) -> Value,
    pub(super) reply: fn(&Value) -> Option<Reply>,
}

pub(super) fn of(provider: LlmProvider) -> &'static Wire {
    match provider {
        LlmProvider::Anthropic => &ANTHROPIC,
        LlmProvider::OpenaiCompatible => &OPENAI,
    }
}

/// The Messages API.
static ANTHROPIC: Wire = Wire {
    base_url: "https://api.anthropic.com",
    path: "/v1/messages",
    key_variable: "ANTHROPIC_API_KEY",
    key_header: "x-api-key",
    key_prefix: "",
    headers: &[("anthropic-version", "2023-06-01")],
    request: |model, question| {
        let messages = json!([{ "role": "user", "content": question.user }]);
        let mut request = json!({ "model": model, "max_tokens": question.max_tokens, "messages": messages });
        if let (Some(system), Some(request)) = (&question.system, request.as_object_mut()) {
            request.insert("system".into(), system.clone().into());
        }
        request
    },
    reply: |body| {
        let blocks = body.get("content")?.as_array()?;
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
        let tokens = tokens(body, "/usage/output_tokens");
        (!texts.is_empty()).then(|| Reply { text: texts.concat(), tokens })
    },
};

/// Chat completions.
static OPENAI: Wire = Wire {
    base_url: "https://api.openai.com/v1",
    path: "/chat/completions",
    key_variable: "OPENAI_API_KEY",
    key_header: "authorization",
    key_prefix: "Bearer ",
    headers: &[],
    request: |model, question| {
        let system = question.system.iter().map(|text| json!({ "role": "system", "content": text }));
        let user = std::iter::once(json!({ "role": "user", "content": question.user }));
        let messages: Vec<Value> = system.chain(user).collect();
        json!({ "model": model, "max_tokens": question.max_tokens, "messages": messages, "stream": false })
    },
    reply: |body| {
        let text = body.pointer("/choices/0/message/content")?.as_str()?.to_owned();
        Some(Reply { text, tokens: tokens(body, "/usage/completion_tokens") })
    },
};

fn tokens(body: &Value, pointer: &str) -> Option<u32> {
    body.pointer(pointer)?.as_u64().map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
}
