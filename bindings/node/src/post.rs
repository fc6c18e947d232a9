//! Messages to the thread of JavaScript.

use std::sync::Arc;

use hookbox_embed::{Code, Error};
use napi::{
    Result, Status,
    bindgen_prelude::{FnArgs, Function},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};
use serde::Serialize;
use serde_json::json;

/// The subject of a message. `ts/calls.ts` has the same numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A call ended with this text.
    Done = 0,
    /// A call ended with this error.
    Failed = 1,
    /// A function is asked about this event. The first number identifies the request.
    Ask = 2,
    /// The answer to this question is no longer needed.
    Cancel = 3,
    /// No hook calls this function any more.
    Release = 4,
}

/// The number of a call or a question, the [`Kind`], the number of a function, and a text.
type Message = FnArgs<(u32, u32, u32, String)>;

/// Calls one function on the thread of JavaScript. It does not keep the process alive. Messages are dropped after the end of the
/// thread.
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

    /// Reports the result of a call.
    pub(crate) fn settle(&self, call: u32, result: std::result::Result<String, Error>) {
        match result {
            Ok(text) => self.send(call, Kind::Done, 0, text),
            Err(error) => self.send(call, Kind::Failed, 0, described(&error)),
        }
    }
}

/// A value as JSON.
pub(crate) fn written(value: &impl Serialize) -> std::result::Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::new(Code::System, format!("cannot write JSON: {error}")))
}

/// An error as JSON, which `ts/errors.ts` reads.
fn described(error: &Error) -> String {
    json!({ "code": error.code.word(), "message": error.message, "details": error.details() }).to_string()
}

/// An error as JavaScript throws it.
pub(crate) fn thrown(error: Error) -> napi::Error {
    napi::Error::new(Status::GenericFailure, described(&error))
}
