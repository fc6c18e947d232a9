//! The runtime of a process.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use hookbox_embed::{Error, HookSet, HostHook, LoadOptions, RuntimeOptions, Source};
use napi::bindgen_prelude::{FnArgs, Function, Result};
use napi_derive::napi;

use crate::{
    calls::Calls,
    hook::Questions,
    hook_set::NativeHookSet,
    post::{Post, thrown, written},
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

/// The parts that all hook sets of a process share.
#[napi]
pub struct NativeRuntime {
    calls: Calls,
    questions: Questions,
    /// Hook sets that are loaded and not yet taken, by the call that loaded them.
    loaded: Arc<Mutex<HashMap<u32, HookSet>>>,
}

#[napi]
impl NativeRuntime {
    /// Opens a runtime with options as JSON and the program that compiles components. `post` receives every message.
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
        Ok(Self { calls: Calls::new(runtime, post), questions, loaded: Arc::default() })
    }

    /// Loads a hook set. [`NativeRuntime::take`] returns it after the call.
    #[napi]
    pub fn load(&self, call: u32, source: NativeSource, options: String, hooks: Vec<NativeHook>) -> Result<()> {
        let options = LoadOptions::parse(&options).map_err(thrown)?;
        let hooks: std::result::Result<Vec<HostHook>, Error> =
            hooks.iter().map(|hook| self.questions.hook(&hook.entry, hook.function)).collect();
        let (runtime, loaded, hooks) = (self.calls.runtime.clone(), Arc::clone(&self.loaded), hooks.map_err(thrown)?);
        self.calls.start(call, async move {
            let hooks = HookSet::load(&runtime, source.into(), options, hooks).await?;
            loaded.lock().unwrap_or_else(PoisonError::into_inner).insert(call, hooks);
            Ok(String::new())
        })
    }

    /// Takes the hook set that a call has loaded.
    #[napi]
    pub fn take(&self, call: u32) -> Option<NativeHookSet> {
        let hooks = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).remove(&call)?;
        Some(NativeHookSet::new(hooks, self.calls.clone()))
    }

    /// Checks a configuration; findings as JSON.
    #[napi]
    pub fn check(&self, call: u32, source: NativeSource, options: String) -> Result<()> {
        let options = LoadOptions::parse(&options).map_err(thrown)?;
        let runtime = self.calls.runtime.clone();
        self.calls.start(call, async move { written(&hookbox_embed::check(&runtime, source.into(), options).await?) })
    }

    /// Ends a call. No message about it follows.
    #[napi]
    pub fn cancel(&self, call: u32) {
        self.calls.end(call);
    }

    /// Answers a question with the output's JSON.
    #[napi]
    pub fn answer(&self, question: u32, output: String) {
        self.questions.answer(question, Ok(output));
    }

    /// Gives the reason why a question has no answer.
    #[napi]
    pub fn refuse(&self, question: u32, why: String) {
        self.questions.answer(question, Err(why));
    }

    /// Refuses later calls.
    #[napi]
    pub fn close(&self) {
        self.calls.runtime.close();
    }
}
