//! A hook that cannot be asked. It fails on every event, and what the other hooks say still counts.

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure};
use hookbox_sandbox::Run;

use super::{Call, Handler};
use crate::config::Diagnostic;

/// Why not.
pub(crate) struct Failed {
    failure: Failure,
    unusable: Option<Diagnostic>,
}

impl Failed {
    pub(crate) fn new(failure: Failure) -> Self {
        Self { failure, unusable: None }
    }

    /// It could not be loaded.
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
