//! The `wasm` handler: a component with the permissions of its hook.

use std::sync::Arc;

use async_trait::async_trait;
use hookbox_protocol::EventKind;
use hookbox_sandbox::{CallContext, Component as Loaded, Run};

use super::{Call, Handler};
use crate::remedy;

/// A component handler.
pub(crate) struct Component {
    inner: Loaded,
    /// The context of every call. Each call sets its own session and deadline.
    context: CallContext,
    /// True if the fuel grows with the size of the event, because the configuration sets no fuel.
    fuel_grows: bool,
    publisher: Option<Arc<str>>,
}

impl Component {
    pub(crate) fn new(inner: Loaded, context: CallContext, fuel_grows: bool) -> Self {
        Self { inner, context, fuel_grows, publisher: None }
    }

    /// With its publisher, whose signature was verified.
    pub(crate) fn published_by(self, publisher: Option<Arc<str>>) -> Self {
        Self { publisher, ..self }
    }
}

#[async_trait]
impl Handler for Component {
    fn handles(&self, kind: EventKind) -> bool {
        self.inner.handles().contains(&kind)
    }

    fn digest(&self) -> Option<Arc<str>> {
        Some(Arc::clone(self.inner.digest()))
    }

    fn publisher(&self) -> Option<Arc<str>> {
        self.publisher.clone()
    }

    async fn call(&self, call: Call<'_>) -> Run {
        let limits = &self.context.limits;
        let limits = if self.fuel_grows { limits.with_fuel_for(call.event.raw.size()) } else { limits.clone() };
        let context = CallContext {
            limits,
            session: call.event.context.session_id.clone(),
            deadline: call.deadline.into_std(),
            ..self.context.clone()
        };
        let mut run = self.inner.call(call.event, call.dialect, context).await;
        if let Err(failure) = &mut run.result {
            remedy::advise(failure);
        }
        run
    }
}
