//! The requests and replies of the providers' APIs. Both are used without streaming.

use hookbox_protocol::json::Object;
use serde_json::{Value, json};

use super::{Conversation, LlmProvider, Message, Reply, ToolUse};

/// One provider's API.
pub(super) struct Wire {
    pub(super) base_url: &'static str,
    pub(super) path: &'static str,
    pub(super) key_variable: &'static str,
    pub(super) key_header: &'static str,
    pub(super) key_prefix: &'static str,
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) request: fn(&str, &Conversation) -> Value,
    pub(super) reply: fn(&Value) -> Option<Reply>,
}

pub(super) fn of(provider: LlmProvider) -> &'static Wire {
    match provider {
        LlmProvider::Anthropic => &ANTHROPIC,
        LlmProvider::OpenaiCompatible => &OPENAI,
    }
}

/// Anthropic's Messages API.
static ANTHROPIC: Wire = Wire {
    base_url: "https://api.anthropic.com",
    path: "/v1/messages",
    key_variable: "ANTHROPIC_API_KEY",
    key_header: "x-api-key",
    key_prefix: "",
    headers: &[("anthropic-version", "2023-06-01")],
    request: |model, conversation| {
        let messages: Vec<Value> = conversation.messages.iter().map(anthropic_message).collect();
        let mut request = Object::new();
        request.insert("model".into(), model.into());
        request.insert("max_tokens".into(), conversation.max_tokens.into());
        if let Some(system) = &conversation.system {
            request.insert("system".into(), system.as_str().into());
        }
        if !conversation.tools.is_empty() {
            let tools = conversation.tools.iter().map(
                |tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.arguments }),
            );
            request.insert("tools".into(), tools.collect());
        }
        request.insert("messages".into(), messages.into());
        request.into()
    },
    reply: |body| {
        let content = body.get("content")?;
        let mut reply = Reply {
            text: String::new(),
            calls: Vec::new(),
            tokens: tokens(body, "/usage/output_tokens"),
            wire: json!({ "role": "assistant", "content": content }),
        };
        for block in content.as_array()? {
            match block.get("type")?.as_str()? {
                "text" => reply.text.push_str(block.get("text")?.as_str()?),
                "tool_use" => reply.calls.push(ToolUse {
                    id: text(block, "/id")?,
                    name: text(block, "/name")?,
                    arguments: block.get("input").cloned().unwrap_or_default(),
                }),
                _ => {}
            }
        }
        Some(reply)
    },
};

/// The chat completions API.
static OPENAI: Wire = Wire {
    base_url: "https://api.openai.com/v1",
    path: "/chat/completions",
    key_variable: "OPENAI_API_KEY",
    key_header: "authorization",
    key_prefix: "Bearer ",
    headers: &[],
    request: |model, conversation| {
        let system = conversation.system.iter().map(|text| json!({ "role": "system", "content": text }));
        let messages: Vec<Value> = system.chain(conversation.messages.iter().flat_map(openai_messages)).collect();
        let mut request = Object::new();
        request.insert("model".into(), model.into());
        request.insert("max_tokens".into(), conversation.max_tokens.into());
        if !conversation.tools.is_empty() {
            let tools = conversation.tools.iter().map(|tool| {
                let function =
                    json!({ "name": tool.name, "description": tool.description, "parameters": tool.arguments });
                json!({ "type": "function", "function": function })
            });
            request.insert("tools".into(), tools.collect());
        }
        request.insert("messages".into(), messages.into());
        request.insert("stream".into(), false.into());
        request.into()
    },
    reply: |body| {
        let message = body.pointer("/choices/0/message")?;
        let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let calls = calls.iter().map(|call| {
            let arguments = text(call, "/function/arguments")?;
            let arguments = hookbox_protocol::json::parse(arguments.as_bytes()).unwrap_or_default();
            Some(ToolUse { id: text(call, "/id")?, name: text(call, "/function/name")?, arguments })
        });
        Some(Reply {
            text: text(message, "/content").unwrap_or_default(),
            calls: calls.collect::<Option<_>>()?,
            tokens: tokens(body, "/usage/completion_tokens"),
            wire: message.as_object()?.clone().into(),
        })
    },
};

fn anthropic_message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Model(reply) => reply.wire.clone(),
        Message::Results(results) => {
            let blocks = results.iter().map(|result| {
                let (Ok(text) | Err(text)) = &result.result;
                let is_error = result.result.is_err();
                json!({ "type": "tool_result", "tool_use_id": result.id, "content": text, "is_error": is_error })
            });
            json!({ "role": "user", "content": blocks.collect::<Value>() })
        }
    }
}

/// Converts a message. Chat completions have one message per tool result, and mark errors only in the text.
fn openai_messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({ "role": "user", "content": text })],
        Message::Model(reply) => vec![reply.wire.clone()],
        Message::Results(results) => {
            let results = results.iter().map(|result| {
                let text = result.result.clone().unwrap_or_else(|error| format!("error: {error}"));
                json!({ "role": "tool", "tool_call_id": result.id, "content": text })
            });
            results.collect()
        }
    }
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    Some(value.pointer(pointer)?.as_str()?.to_owned())
}

fn tokens(body: &Value, pointer: &str) -> Option<u32> {
    body.pointer(pointer)?.as_u64().map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
}
