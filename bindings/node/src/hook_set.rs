//! A loaded configuration, which decides on events.

use std::time::Duration;

use hookbox_embed::{Code, Error, Request, to_lines};
use napi::{
    Either,
    bindgen_prelude::{Result, Uint8Array},
};
use napi_derive::napi;

use crate::{
    calls::Calls,
    post::{thrown, written},
};

/// The hooks of one configuration.
#[napi]
pub struct NativeHookSet {
    hooks: hookbox_embed::HookSet,
    calls: Calls,
}

/// Facts about one event in addition to its JSON.
#[napi(object)]
pub struct NativeRequest {
    /// The event's name, for dialects whose JSON does not carry it.
    pub event_name: Option<String>,
    /// The client's timeout, in milliseconds.
    pub timeout: Option<f64>,
    /// True if the client sees only the text.
    pub body_only: Option<bool>,
}

impl TryFrom<NativeRequest> for Request {
    type Error = Error;

    fn try_from(request: NativeRequest) -> std::result::Result<Self, Error> {
        let timeout = request.timeout.map(|timeout| milliseconds("timeout", timeout)).transpose()?;
        Ok(Self { event_name: request.event_name, timeout, body_only: request.body_only.unwrap_or_default() })
    }
}

fn milliseconds(name: &str, milliseconds: f64) -> std::result::Result<Duration, Error> {
    Duration::try_from_secs_f64(milliseconds / 1000.0).map_err(|_| {
        let message = format!("invalid `{name}`: expected a number of milliseconds, not {milliseconds}");
        Error::new(Code::Options, message)
    })
}

fn bytes(event: Either<String, Uint8Array>) -> Vec<u8> {
    match event {
        Either::A(text) => text.into_bytes(),
        // Copied, because JavaScript may change the array while hooks read it.
        Either::B(bytes) => bytes.to_vec(),
    }
}

impl NativeHookSet {
    pub(crate) fn new(hooks: hookbox_embed::HookSet, calls: Calls) -> Self {
        Self { hooks, calls }
    }

    /// Runs a call to its end on this thread.
    fn wait<T>(&self, future: impl Future<Output = std::result::Result<T, Error>>) -> Result<T> {
        if self.hooks.has_host_hooks() {
            let message = "a hook of this set is a JavaScript function, which cannot run while this thread waits: \
                           use the asynchronous call";
            return Err(thrown(Error::new(Code::Unsupported, message)));
        }
        self.calls.runtime.block_on(future).and_then(|done| done).map_err(thrown)
    }
}

#[napi]
impl NativeHookSet {
    /// The dialect, with its profile.
    #[napi(getter)]
    pub fn dialect(&self) -> String {
        self.hooks.dialect().to_owned()
    }

    /// The tenant.
    #[napi(getter)]
    pub fn tenant(&self) -> String {
        self.hooks.tenant().to_owned()
    }

    /// Wire names of the events that have a hook.
    #[napi(getter)]
    pub fn events(&self) -> Vec<String> {
        self.hooks.events().to_vec()
    }

    /// Warnings about the configuration, as JSON.
    #[napi(getter)]
    pub fn warnings(&self) -> Result<String> {
        written(&self.hooks.warnings()).map_err(thrown)
    }

    /// Decides on an event; the response as JSON, and its report on a second line.
    #[napi]
    pub fn decide(&self, call: u32, event: Either<String, Uint8Array>, request: NativeRequest) -> Result<()> {
        let (hooks, event) = (self.hooks.clone(), bytes(event));
        let request = Request::try_from(request).map_err(thrown)?;
        self.calls.start(call, async move { to_lines(hooks.decide(&event, &request).await?) })
    }

    /// Decides on an event while this thread waits; the response as [`NativeHookSet::decide`] has it.
    #[napi]
    pub fn decide_sync(&self, event: Either<String, Uint8Array>, request: NativeRequest) -> Result<String> {
        let (event, request) = (bytes(event), Request::try_from(request).map_err(thrown)?);
        self.wait(async { to_lines(self.hooks.decide(&event, &request).await?) })
    }

    /// Explains an event; the report as JSON.
    #[napi]
    pub fn explain(&self, call: u32, event: Either<String, Uint8Array>, request: NativeRequest) -> Result<()> {
        let (hooks, event) = (self.hooks.clone(), bytes(event));
        let request = Request::try_from(request).map_err(thrown)?;
        self.calls.start(call, async move { Ok(hooks.explain(&event, &request).await?.to_string()) })
    }

    /// Checks every hook; findings as JSON.
    #[napi]
    pub fn check(&self, call: u32) -> Result<()> {
        let hooks = self.hooks.clone();
        self.calls.start(call, async move { written(&hooks.check().await?) })
    }

    /// Ends the work of the hooks, in at most this many milliseconds.
    #[napi]
    pub fn close(&self, call: u32, grace: f64) -> Result<()> {
        let (hooks, grace) = (self.hooks.clone(), milliseconds("grace", grace).map_err(thrown)?);
        self.calls.start(call, async move {
            hooks.close(grace).await;
            Ok(String::new())
        })
    }
}
