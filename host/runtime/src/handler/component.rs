//! A component, with what its hook is granted.

use async_trait::async_trait;
use hookbox_protocol::EventKind;
use hookbox_sandbox::{CallContext, Component as Loaded, Run};

use super::{Call, Handler};

/// A component handler.
pub(crate) struct Component {
    inner: Loaded,
    /// All of it but the session and the deadline, which each call has of its own.
    context: CallContext,
}

impl Component {
    pub(crate) fn new(inner: Loaded, context: CallContext) -> Self {
        Self { inner, context }
    }
}

#[async_trait]
impl Handler for Component {
    fn handles(&self, kind: EventKind) -> bool {
        self.inner.handles().contains(&kind)
    }

    fn digest(&self) -> Option<&str> {
        Some(self.inner.digest())
    }

    async fn call(&self, call: Call<'_>) -> Run {
        let context = CallContext {
            session: call.event.context.session_id.clone(),
            deadline: call.deadline.into_std(),
            ..self.context.clone()
        };
        self.inner.call(call.event, call.dialect, &context).await
    }
}
