//! Finds components whose output exceeds their authority on a given event.

use hookbox_protocol::{Cause, Event};

use super::HookSet;
use crate::{
    config::{Diagnostic, Handler, Severity},
    error::DispatchError,
    run::run,
    select::{Conditions, select},
    verdict::Status,
};

impl HookSet {
    /// Calls the components that match an event, and warns about each whose output exceeds its authority. Skips
    /// handlers that are not components. Side effects of a component (state that it keeps, requests that it sends)
    /// happen as under [`HookSet::dispatch`].
    ///
    /// # Errors
    /// Same as [`HookSet::dispatch_as`].
    pub async fn overreach(
        &self,
        wire: impl AsRef<[u8]>,
        name: Option<&str>,
    ) -> Result<Vec<Diagnostic>, DispatchError> {
        let mut event = self.dialect().decode_event(wire.as_ref(), name)?;
        let mut found = Vec::new();
        for stage in self.dialect().stages(event.kind()) {
            let sent = event.turn_into(*stage, self.dialect());
            found.extend(self.beyond(&event).await);
            event.turn_back(sent);
        }
        Ok(found)
    }

    async fn beyond(&self, event: &Event) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for selected in select(&self.hooks, event, Conditions::default()).await {
            let hook = selected.hook();
            let (Some(authority), Handler::Wasm(_)) = (hook.bounds(), &hook.handler) else { continue };
            let Status::Ran(ran) = run(&self.hooks, event, selected).await.status else { continue };
            let unmeant = "this has no effect; if it is intended, add it to `authority`".to_owned();
            let (lost, help) = match ran.result {
                Ok(mut output) => (authority.limit(self.dialect(), event, &mut output), unmeant),
                Err(failure) if failure.cause == Cause::Authority => (ran.notes, failure.message),
                Err(_) => continue,
            };
            if lost.is_empty() {
                continue;
            }
            let lost: Vec<&str> = lost.iter().map(|note| note.text.as_str()).collect();
            let message =
                format!("the output of `{}` on {} exceeds its authority: {}", hook.name, event.name, lost.join("; "));
            let diagnostic = self.config().error_at(&hook.pointer, message, Some(help));
            found.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
        }
        found
    }
}
