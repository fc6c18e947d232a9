//! Language models against a server with the providers' APIs, and the handlers that use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox::{
    Cause, Decision,
    capability::{
        CallUsage, Llm, LlmError, LlmPrompt, Scope,
        http::ReqwestClient,
        llm::{HookLlm, HttpModel, LlmProvider, LlmSettings, MAX_QUESTION},
    },
    handler::prompt::run_prompt,
    sandbox::permission::{LlmDetails, LlmGrant},
};
use hookbox_testing::server::{Server, response};
use serde_json::{Value, json};

/// A model. A test may not set environment variables, so the key is a variable that every test run has.
fn model(provider: LlmProvider, base_url: String) -> HttpModel {
    let api_key_env = Some("PATH".into());
    let settings = LlmSettings { provider, base_url: Some(base_url), model: Some("m".into()), api_key_env };
    HttpModel::new(Arc::new(ReqwestClient::default()), &settings).unwrap()
}

async fn anthropic(text: &'static str) -> Server {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{ "type": "text", "text": text }], "usage": { "input_tokens": 5, "output_tokens": 7 },
    });
    Server::start(move |_| response("200 OK", "content-type: application/json\r\n", &body.to_string())).await
}

async fn openai(text: &'static str) -> Server {
    let message = json!({ "role": "assistant", "content": text });
    let body = json!({
        "id": "c", "object": "chat.completion", "model": "m", "usage": { "prompt_tokens": 5, "completion_tokens": 7 },
        "choices": [{ "index": 0, "finish_reason": "stop", "message": message }],
    });
    Server::start(move |_| response("200 OK", "content-type: application/json\r\n", &body.to_string())).await
}

fn scope() -> Scope {
    let deadline = Instant::now() + Duration::from_secs(10);
    Scope { tenant: "t".into(), hook: "h".into(), session: None, deadline, spent: CallUsage::default() }
}

fn ask() -> LlmPrompt {
    LlmPrompt { model: None, system: Some("s".into()), user: "u".into(), max_tokens: Some(50) }
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn both_providers_get_their_request_form_within_the_budget() {
    let key = std::env::var("PATH").unwrap();
    let grant = LlmGrant::Detailed(LlmDetails { max_calls: 3, max_tokens: 10 });
    let (one, other) = (anthropic("hi").await, openai("hi").await);
    let user = json!({ "role": "user", "content": "u" });
    let system = json!({ "role": "system", "content": "s" });
    for (provider, server, line, header, expected) in [
        (
            LlmProvider::Anthropic,
            &one,
            "POST /v1/messages ",
            format!("x-api-key: {key}\r\n"),
            json!({ "model": "m", "max_tokens": 10, "system": "s", "messages": [user] }),
        ),
        (
            LlmProvider::OpenaiCompatible,
            &other,
            "POST /chat/completions ",
            format!("authorization: Bearer {key}\r\n"),
            json!({ "model": "m", "max_tokens": 10, "messages": [system, user], "stream": false }),
        ),
    ] {
        let llm = HookLlm::granted(Arc::new(model(provider, server.url(""))), &grant).unwrap();
        let scope = scope();
        assert_eq!(llm.complete(&scope, ask()).await.unwrap(), "hi");
        let request = server.requests()[0].clone();
        assert!(request.starts_with(line) && request.contains(&header), "{request}");
        assert_eq!(body(&request), expected);
        assert_eq!(llm.complete(&scope, ask()).await.unwrap(), "hi");
        assert_eq!(body(&server.requests()[1])["max_tokens"], 3, "what is left of ten after seven");
        assert!(matches!(llm.complete(&scope, ask()).await, Err(LlmError::Budget(_))));
        assert_eq!(server.requests().len(), 2);
    }
}

/// A grant is for the host's model, because the host pays and knows what data may leave the machine.
#[tokio::test]
async fn a_component_chooses_neither_the_model_nor_the_size() {
    let server = anthropic("hi").await;
    let model = Arc::new(model(LlmProvider::Anthropic, server.url("")));
    let llm = HookLlm::granted(model, &LlmGrant::Enabled(true)).unwrap();
    llm.complete(&scope(), LlmPrompt { model: Some("dearest".into()), ..ask() }).await.unwrap();
    assert_eq!(body(&server.requests()[0])["model"], "m");
    let long = LlmPrompt { user: "u".repeat(MAX_QUESTION), ..ask() };
    assert!(matches!(llm.complete(&scope(), long).await, Err(LlmError::Budget(_))));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_prompt_is_decided_or_fails() {
    let wire = br#"{"hook_event_name":"Stop","session_id":"s"}"#;
    let event = hookbox::dialect::by_name("claude").unwrap().decode_event(wire, None).unwrap();
    let refuses = anthropic(r#"{"ok":false,"reason":"not yet"}"#).await;
    let answer = run_prompt(&model(LlmProvider::Anthropic, refuses.url("")), "$ARGUMENTS?", Some("n"), &event).await;
    let answer = answer.unwrap();
    assert_eq!((answer.decision, answer.reason.as_deref()), (Some(Decision::Deny), Some("not yet")));
    let sent = body(&refuses.requests()[0]);
    assert_eq!(sent["model"], "n");
    assert_eq!(sent["messages"][0]["content"], format!("{}?", event.raw));

    let chatty = openai("Sure!").await;
    let broken = Server::start(|_| response("529 Overloaded", "", r#"{"error":{"message":"overloaded"}}"#)).await;
    for url in [chatty.url(""), broken.url("")] {
        let failure = run_prompt(&model(LlmProvider::OpenaiCompatible, url), "p", None, &event).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Model);
    }
}
