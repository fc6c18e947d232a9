//! A Rust async closure that speaks the dialect's JSON.

use std::{future::Future, pin::Pin, sync::Arc};

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure};
use hookbox_sandbox::Run;
use serde_json::Value;

use super::{Call, Handler};

type Pending = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// A closure that takes the event's JSON and returns the output's JSON (`null` for no output) or an error message.
#[derive(Clone)]
pub(crate) struct Closure(Arc<dyn Fn(Value) -> Pending + Send + Sync>);

impl Closure {
    /// Wraps a closure.
    pub(crate) fn new<F, R>(closure: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Self(Arc::new(move |event| Box::pin(closure(event))))
    }
}

#[async_trait]
impl Handler for Closure {
    async fn call(&self, call: Call<'_>) -> Run {
        // Runs in a separate task, so that a panic fails only this hook.
        let (closure, event) = (Arc::clone(&self.0), call.event.raw.value().clone());
        let output = tokio::spawn(async move { closure(event).await });
        let abort = AbortOnDrop(output.abort_handle());
        let output = output.await;
        drop(abort);
        let result = match output {
            Ok(Ok(Value::Null)) => Ok(Default::default()),
            Ok(Ok(Value::Object(object))) => call
                .dialect
                .decode_output(call.event, &object)
                .map_err(|e| Failure::new(Cause::BadOutput, format!("output: {e}"))),
            Ok(Ok(other)) => {
                let found = hookbox_protocol::json::describe(&other);
                Err(Failure::new(Cause::BadOutput, format!("output: expected an object, found {found}")))
            }
            Ok(Err(message)) => Err(Failure::new(Cause::Guest, message)),
            Err(_) => Err(Failure::new(Cause::Guest, "the callback panicked")),
        };
        result.into()
    }
}

/// Aborts a callback that exceeds its timeout, so that it does not continue in the background.
struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
