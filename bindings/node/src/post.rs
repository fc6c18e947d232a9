//! The way to the thread of JavaScript.

use std::sync::Arc;

use hookbox_embed::Error;
use napi::{
    Result, Status,
    bindgen_prelude::{FnArgs, Function},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};
use serde_json::json;

/// The subject of a message. `ts/calls.ts` has the same numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A call ended with this text.
    Done = 0,
    /// A call ended with this error.
    Failed = 1,
    /// A function is asked about this event; the first number is that of the question.
    Ask = 2,
    /// This question needs no answer any more.
    Cancel = 3,
    /// A function is not asked any more.
    Release = 4,
}

/// The number of a call or a question, the [`Kind`], the number of a function, a text.
type Message = FnArgs<(u32, u32, u32, String)>;

/// Calls one function on the thread of JavaScript. It is weak: it keeps no process alive. Where the thread has ended, messages are
/// dropped.
#[derive(Clone)]
pub(crate) struct Post(Arc<ThreadsafeFunction<Message, (), Message, Status, false, true, 0>>);

impl Post {
    pub(crate) fn new(function: &Function<'_, Message, ()>) -> Result<Self> {
        let built = function.build_threadsafe_function().callee_handled::<false>().weak::<true>().build()?;
        Ok(Self(Arc::new(built)))
    }

    pub(crate) fn send(&self, number: u32, kind: Kind, function: u32, text: String) {
        self.0.call((number, kind as u32, function, text).into(), ThreadsafeFunctionCallMode::NonBlocking);
    }

    /// Reports what a call came to.
    pub(crate) fn settle(&self, call: u32, result: std::result::Result<String, Error>) {
        match result {
            Ok(text) => self.send(call, Kind::Done, 0, text),
            Err(error) => self.send(call, Kind::Failed, 0, written(&error)),
        }
    }
}

/// An error as JSON, which `ts/errors.ts` reads.
fn written(error: &Error) -> String {
    json!({ "code": error.code.word(), "message": error.message, "details": error.details() }).to_string()
}

/// An error as JavaScript throws it.
pub(crate) fn thrown(error: Error) -> napi::Error {
    napi::Error::new(Status::GenericFailure, written(&error))
}
