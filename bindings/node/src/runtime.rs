//! The runtime of a process.

use std::{
    collections::HashMap,
    future::Future,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use hookbox_embed::{Error, HostHook, LoadOptions, RuntimeOptions, Source};
use napi::bindgen_prelude::{FnArgs, Function, Result};
use napi_derive::napi;
use tokio::{select, sync::oneshot};

use crate::{
    hook::Questions,
    hook_set::{NativeHookSet, written},
    post::{Post, thrown},
};

/// A hook of the host: its description as JSON, and the number of its function.
#[napi(object)]
pub struct NativeHook {
    /// The description.
    pub entry: String,
    /// The number.
    pub function: u32,
}

/// A configuration: a file, or a text with the folder of its relative paths.
#[napi(object)]
pub struct NativeSource {
    /// The file.
    pub file: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The folder.
    pub folder: Option<String>,
}

impl From<NativeSource> for Source {
    fn from(NativeSource { file, text, folder }: NativeSource) -> Self {
        match file {
            Some(file) => Self::File(file.into()),
            None => Self::Text(text.unwrap_or_default(), folder.map_or_else(|| ".".into(), PathBuf::from)),
        }
    }
}

/// A call that goes on.
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

/// The parts that calls of one runtime share.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) runtime: hookbox_embed::Runtime,
    pub(crate) post: Post,
}

impl Calls {
    /// Runs a call on the runtime's threads, and reports what it came to.
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

/// The parts that all hook sets of a process share.
#[napi]
pub struct NativeRuntime {
    calls: Calls,
    questions: Questions,
    /// Hook sets that are loaded and not yet taken, by the call that loaded them.
    loaded: Arc<Mutex<HashMap<u32, hookbox_embed::HookSet>>>,
}

#[napi]
impl NativeRuntime {
    /// Opens a runtime with options as JSON and the program that compiles components. `post` gets every message.
    #[napi(factory)]
    pub fn open(
        options: String,
        compiler: Option<String>,
        post: Function<'_, FnArgs<(u32, u32, u32, String)>, ()>,
    ) -> Result<Self> {
        let options = RuntimeOptions::parse(&options).map_err(thrown)?;
        let runtime = hookbox_embed::Runtime::open(options, compiler.map(Into::into)).map_err(thrown)?;
        let post = Post::new(&post)?;
        let questions = Questions::new(post.clone());
        Ok(Self { calls: Calls { runtime, post }, questions, loaded: Arc::default() })
    }

    /// Loads a hook set, which [`NativeRuntime::take`] has when the call is done.
    #[napi]
    pub fn load(&self, call: u32, source: NativeSource, options: String, hooks: Vec<NativeHook>) -> Result<NativeTask> {
        let options = LoadOptions::parse(&options).map_err(thrown)?;
        let hooks: std::result::Result<Vec<HostHook>, Error> =
            hooks.iter().map(|hook| self.questions.hook(&hook.entry, hook.function)).collect();
        let (runtime, loaded, hooks) = (self.calls.runtime.clone(), Arc::clone(&self.loaded), hooks.map_err(thrown)?);
        self.calls.start(call, async move {
            let hooks = runtime.load(source.into(), options, hooks).await?;
            loaded.lock().unwrap_or_else(PoisonError::into_inner).insert(call, hooks);
            Ok(String::new())
        })
    }

    /// The hook set that a call has loaded.
    #[napi]
    pub fn take(&self, call: u32) -> Option<NativeHookSet> {
        let hooks = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).remove(&call)?;
        Some(NativeHookSet::new(hooks, self.calls.clone()))
    }

    /// Checks a configuration; findings as JSON.
    #[napi]
    pub fn check(&self, call: u32, source: NativeSource, options: String) -> Result<NativeTask> {
        let options = LoadOptions::parse(&options).map_err(thrown)?;
        let runtime = self.calls.runtime.clone();
        self.calls.start(call, async move { written(&runtime.check(source.into(), options).await?) })
    }

    /// Answers a question with the output's JSON.
    #[napi]
    pub fn answer(&self, question: u32, output: String) {
        self.questions.answer(question, Ok(output));
    }

    /// Says why a question has no answer.
    #[napi]
    pub fn refuse(&self, question: u32, why: String) {
        self.questions.answer(question, Err(why));
    }

    /// Refuses new calls.
    #[napi]
    pub fn close(&self) {
        self.calls.runtime.close();
    }
}
