//! Stubs for HTTP servers and the model, and the requests that they expect.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hookbox::{
    async_trait,
    capability::{
        HttpError, HttpResponse, LlmError,
        http::{Exchange, HttpClient},
        llm::{Conversation, Message, Model, Reply, ToolUse},
    },
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::difference;

/// An expected HTTP request and its response. Only the given parts are compared.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpStub {
    url: String,
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The body, as text or JSON.
    body: Option<Value>,
    answer: Option<HttpAnswer>,
    /// `timeout`, or the error message of a failed request.
    error: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpAnswer {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
}

const fn ok() -> u16 {
    200
}

/// An expected question to the model and its answer. Only the given parts are compared.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmStub {
    user: Option<String>,
    system: Option<String>,
    answer: Option<String>,
    /// The tool calls of the model's turn: `name` and `arguments`.
    #[serde(default)]
    calls: Vec<Called>,
    /// `timeout`, or the error message of a failed question.
    error: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// The stubs of one kind in a case, and their use.
struct Used<S> {
    left: Vec<(usize, S)>,
    /// Messages about requests without a stub.
    wrong: Vec<String>,
}

/// The stubs of one case. Cheap to clone.
#[derive(Clone)]
pub struct Stubs {
    http: Arc<Mutex<Used<HttpStub>>>,
    llm: Arc<Mutex<Used<LlmStub>>>,
}

/// A stub that can be compared with a request.
trait Stub: Clone {
    const KIND: &'static str;

    /// The given parts, and the corresponding parts of the request.
    fn compared(&self, request: &Value) -> (Value, Value);
}

impl Stub for HttpStub {
    const KIND: &'static str = "http";

    fn compared(&self, request: &Value) -> (Value, Value) {
        let mut parts = Parts::new(request);
        parts.text("url", Some(&self.url));
        parts.text("method", self.method.as_ref());
        for (name, value) in &self.headers {
            parts.text_at("headers", &name.to_lowercase(), value);
        }
        if let Some(body) = &self.body {
            let text = request.get("body").and_then(Value::as_str).unwrap_or_default();
            let found = if body.is_string() { None } else { serde_json::from_str(text).ok() };
            parts.put("body", body.clone(), found.unwrap_or_else(|| text.into()));
        }
        parts.done()
    }
}

impl Stub for LlmStub {
    const KIND: &'static str = "llm";

    fn compared(&self, request: &Value) -> (Value, Value) {
        let mut parts = Parts::new(request);
        parts.text("user", self.user.as_ref());
        parts.text("system", self.system.as_ref());
        parts.done()
    }
}

/// Collects the expected and the actual parts.
struct Parts<'a> {
    request: &'a Value,
    expected: Map<String, Value>,
    found: Map<String, Value>,
}

impl<'a> Parts<'a> {
    fn new(request: &'a Value) -> Self {
        Self { request, expected: Map::new(), found: Map::new() }
    }

    fn put(&mut self, key: &str, expected: Value, found: Value) {
        self.expected.insert(key.to_owned(), expected);
        self.found.insert(key.to_owned(), found);
    }

    fn text(&mut self, key: &str, expected: Option<&String>) {
        if let Some(expected) = expected {
            let found = self.request.get(key).cloned().unwrap_or_default();
            self.put(key, expected_text(expected, &found), found);
        }
    }

    fn text_at(&mut self, map: &str, key: &str, expected: &str) {
        let found = self.request.get(map).and_then(|map| map.get(key)).cloned().unwrap_or_default();
        self.put(&format!("{map}.{key}"), expected_text(expected, &found), found);
    }

    fn done(self) -> (Value, Value) {
        (Value::Object(self.expected), Value::Object(self.found))
    }
}

/// An expected text. If it ends in `…` and the actual text starts with it, the actual text.
fn expected_text(expected: &str, found: &Value) -> Value {
    let begins = expected.strip_suffix('…').zip(found.as_str()).is_some_and(|(begin, found)| found.starts_with(begin));
    if begins { found.clone() } else { expected.into() }
}

impl<S: Stub> Used<S> {
    fn new(stubs: &[S]) -> Arc<Mutex<Self>> {
        let left = stubs.iter().cloned().enumerate().collect();
        Arc::new(Mutex::new(Self { left, wrong: Vec::new() }))
    }

    /// The first unused stub that matches a request. Records a request without one.
    fn take(&mut self, request: &Value, shown: &str) -> Option<S> {
        let fits = |(_, stub): &(usize, S)| {
            let (expected, found) = stub.compared(request);
            expected == found
        };
        if let Some(place) = self.left.iter().position(fits) {
            return Some(self.left.remove(place).1);
        }
        self.wrong.push(format!("{}: unexpected request {shown}: the case has no response for it", S::KIND));
        if let Some((index, next)) = self.left.first() {
            let (expected, found) = next.compared(request);
            let lines = difference::between(&format!("{} /{index}", S::KIND), &expected, &found);
            self.wrong.extend(lines.into_iter().map(|line| format!("   {line}")));
        }
        None
    }
}

fn locked<S>(used: &Mutex<Used<S>>) -> MutexGuard<'_, Used<S>> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stubs {
    pub fn new(http: &[HttpStub], llm: &[LlmStub]) -> Self {
        Self { http: Used::new(http), llm: Used::new(llm) }
    }

    /// Takes the messages about requests without a stub.
    pub fn wrong(&self) -> Vec<String> {
        let mut lines = std::mem::take(&mut locked(&self.http).wrong);
        lines.append(&mut locked(&self.llm).wrong);
        lines
    }

    /// Messages about unused stubs.
    pub fn left(&self) -> Vec<String> {
        let http = locked(&self.http)
            .left
            .iter()
            .map(|(index, stub)| (HttpStub::KIND, *index, stub.url.clone()))
            .collect::<Vec<_>>();
        let question = |stub: &LlmStub| stub.user.clone().unwrap_or_else(|| "the question".to_owned());
        let llm = locked(&self.llm)
            .left
            .iter()
            .map(|(index, stub)| (LlmStub::KIND, *index, question(stub)))
            .collect::<Vec<_>>();
        http.into_iter()
            .chain(llm)
            .map(|(kind, index, what)| format!("{kind} /{index}: {what} was not requested"))
            .collect()
    }
}

#[async_trait]
impl HttpClient for Stubs {
    async fn send(&self, exchange: Exchange) -> Result<HttpResponse, HttpError> {
        let Exchange { method, url, headers, body, max_response, .. } = exchange;
        let shown = format!("{method} {url}");
        let headers: Map<String, Value> =
            headers.into_iter().map(|(name, value)| (name.to_lowercase(), value.into())).collect();
        let body = body.map(|body| String::from_utf8_lossy(&body).into_owned());
        let request = json!({ "method": method, "url": url, "headers": headers, "body": body });
        let Some(stub) = locked(&self.http).take(&request, &shown) else {
            return Err(HttpError::Failed(format!("the case has no response for {shown}")));
        };
        match (stub.answer, stub.error) {
            (_, Some(error)) if error == "timeout" => Err(HttpError::Timeout),
            (_, Some(error)) => Err(HttpError::Failed(error)),
            (None, None) => Ok(HttpResponse { status: ok(), headers: Vec::new(), body: Vec::new() }),
            (Some(answer), None) => {
                let body = match answer.body {
                    Value::Null => String::new(),
                    body => super::case::text(body),
                };
                if body.len() > max_response {
                    let why = format!("the response has {} bytes, but only {max_response} are granted", body.len());
                    return Err(HttpError::TooLarge(why));
                }
                let headers = answer.headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
                Ok(HttpResponse { status: answer.status, headers, body: body.into_bytes() })
            }
        }
    }
}

#[async_trait]
impl Model for Stubs {
    async fn turn(&self, conversation: &Conversation) -> Result<Reply, LlmError> {
        let mut users = conversation.messages.iter().rev();
        let user = users.find_map(|message| if let Message::User(text) = message { Some(text) } else { None });
        let request = json!({ "user": user, "system": conversation.system });
        let shown = difference::shortened(user.map_or("", String::as_str));
        let Some(stub) = locked(&self.llm).take(&request, &shown) else {
            return Err(LlmError::Failed("the case has no response for this prompt".into()));
        };
        match stub.error {
            Some(error) if error == "timeout" => Err(LlmError::Timeout),
            Some(error) => Err(LlmError::Failed(error)),
            None => {
                let call = |(number, call): (usize, Called)| ToolUse {
                    id: format!("call-{number}"),
                    name: call.name,
                    arguments: call.arguments,
                };
                let calls = stub.calls.into_iter().enumerate().map(call).collect();
                Ok(Reply { text: stub.answer.unwrap_or_default(), calls, tokens: None, wire: Value::Null })
            }
        }
    }
}
