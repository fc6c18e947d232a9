//! Calls of JavaScript that run on the runtime's threads.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use hookbox_embed::Error;
use napi::bindgen_prelude::Result;
use tokio::{select, sync::oneshot};

use crate::post::{Post, thrown};

/// The parts that all calls of one runtime share.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) runtime: hookbox_embed::Runtime,
    pub(crate) post: Post,
    /// Calls that have not ended, by their number. Dropping a sender ends its call.
    running: Arc<Mutex<HashMap<u32, oneshot::Sender<()>>>>,
}

impl Calls {
    pub(crate) fn new(runtime: hookbox_embed::Runtime, post: Post) -> Self {
        Self { runtime, post, running: Arc::default() }
    }

    /// Runs a call on the runtime's threads, and posts its result.
    pub(crate) fn start(
        &self,
        call: u32,
        future: impl Future<Output = std::result::Result<String, Error>> + Send + 'static,
    ) -> Result<()> {
        let (running, is_cancelled) = oneshot::channel::<()>();
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(call, running);
        let calls = self.clone();
        let started = self.runtime.spawn(async move {
            select! {
                result = future => {
                    calls.end(call);
                    calls.post.settle(call, result);
                }
                _ = is_cancelled => {}
            }
        });
        started.map(drop).map_err(|error| {
            self.end(call);
            thrown(error)
        })
    }

    /// Ends a call. No message about it follows.
    pub(crate) fn end(&self, call: u32) {
        drop(self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&call));
    }
}
