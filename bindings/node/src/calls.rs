//! Calls of JavaScript that run on the runtime's threads.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
};

use hookbox_embed::Error;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use tokio::{select, sync::oneshot};

use crate::post::{Post, thrown};

/// A call that has not ended.
#[napi]
pub struct NativeTask {
    cancelled: Mutex<Option<oneshot::Sender<()>>>,
}

#[napi]
impl NativeTask {
    /// Ends the call. No message about it follows.
    #[napi]
    pub fn cancel(&self) {
        drop(self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// The parts that all calls of one runtime share.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) runtime: hookbox_embed::Runtime,
    pub(crate) post: Post,
}

impl Calls {
    /// Runs a call on the runtime's threads, and posts its result.
    pub(crate) fn start(
        &self,
        call: u32,
        future: impl Future<Output = std::result::Result<String, Error>> + Send + 'static,
    ) -> Result<NativeTask> {
        let (cancelled, is_cancelled) = oneshot::channel::<()>();
        let post = self.post.clone();
        let started = self.runtime.spawn(async move {
            select! {
                result = future => post.settle(call, result),
                _ = is_cancelled => {}
            }
        });
        started.map_err(thrown)?;
        Ok(NativeTask { cancelled: Mutex::new(Some(cancelled)) })
    }
}
