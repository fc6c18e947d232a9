//! A hook that could not be loaded. It fails on every event, and what the other hooks say still counts.

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure};
use hookbox_sandbox::Run;

use super::{Call, Handler};
use crate::config::Diagnostic;

/// Why it could not be loaded.
pub(crate) struct Unusable(pub(crate) Diagnostic);

#[async_trait]
impl Handler for Unusable {
    fn unusable(&self) -> Option<&Diagnostic> {
        Some(&self.0)
    }

    async fn call(&self, _: Call<'_>) -> Run {
        Run::new(Err(Failure::new(Cause::Load, self.0.message.clone())))
    }
}
