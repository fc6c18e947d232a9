//! The handler of a hook that cannot run. It fails on every event; the other hooks still count.

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure};
use hookbox_sandbox::Run;

use super::{Call, Handler};
use crate::config::Diagnostic;

/// A handler that fails with this error.
pub(crate) struct Failed {
    failure: Failure,
    unusable: Option<Diagnostic>,
}

impl Failed {
    pub(crate) fn new(failure: Failure) -> Self {
        Self { failure, unusable: None }
    }

    /// The handler of a hook that could not be loaded.
    pub(crate) fn to_load(unusable: Diagnostic) -> Self {
        Self { failure: Failure::new(Cause::Load, &*unusable.message), unusable: Some(unusable) }
    }
}

#[async_trait]
impl Handler for Failed {
    fn unusable(&self) -> Option<&Diagnostic> {
        self.unusable.as_ref()
    }

    async fn call(&self, _: Call<'_>) -> Run {
        Run::new(Err(self.failure.clone()))
    }
}
