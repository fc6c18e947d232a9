//! Decides on the events of a request, within the memory of its tenant.

use std::time::{Duration, Instant};

use axum::body::Body;

use super::request::TenantRequest;
use crate::{
    answer::Answer,
    app::App,
    bodies::{BodyPermit, Bounds, Read},
    console::outcome::ResponseFacts,
    decide::{decide, lost, without_hooks},
    event::TenantEvent,
    idle::Admitted,
    problem::Problem,
    tenant::Quotas,
};

impl TenantRequest {
    /// Reads the body within the memory budget.
    pub(super) async fn body(&self, app: &App, body: Body, connection: Option<&Admitted>) -> Read {
        let bounds = Bounds { max_kib: app.settings.max_body_kib, tenant: self.memory(), by: self.time.deadline() };
        app.bodies.read(self.authenticated.as_deref().unwrap_or_default(), body, bounds, connection).await
    }

    /// Takes memory for an answer until it is sent. Without any, the answer is a block instead. Returns it with the bytes
    /// that it takes.
    pub(super) fn take_memory(&self, event: &TenantEvent, answer: Answer, held: &mut BodyPermit) -> (Answer, usize) {
        let bytes = answer.bytes();
        if bytes == 0 || held.grow(bytes, self.memory()) {
            return (answer, bytes);
        }
        (lost(self.dialect, event, Problem::Busy("unread responses use all the memory for them")), 0)
    }

    /// The memory for bodies and answers, in bytes.
    fn memory(&self) -> usize {
        match (&self.tenant, &self.authenticated) {
            (Some(tenant), _) => tenant.usage.body_memory(),
            (None, Some(_)) => Quotas::default().body_memory(),
            // Events of unauthenticated clients are blocked by name. Only one large body of them is read at a time.
            (None, None) => 0,
        }
    }

    /// Decides on an event, unless there is a problem already.
    pub(super) async fn decide(&self, app: &App, event: &TenantEvent, problem: Option<Problem>) -> Answer {
        let began = Instant::now();
        let answer = self.answer(app, event, problem).await;
        self.count(app, &answer, began.elapsed());
        answer
    }

    /// Counts an answer for the console. Requests without a valid token are not counted.
    fn count(&self, app: &App, answer: &Answer, took: Duration) {
        if let (Some(console), Some(tenant)) = (&app.console, &self.authenticated) {
            console.count(tenant, &ResponseFacts::of(answer, took));
        }
    }

    /// The answer to a request whose events were not read.
    pub(super) fn undecided(&self, app: &App, problem: Problem) -> Answer {
        let answer = Answer::Problem(problem);
        self.count(app, &answer, Duration::ZERO);
        answer
    }

    async fn answer(&self, app: &App, event: &TenantEvent, problem: Option<Problem>) -> Answer {
        if let Some(tenant) = &self.tenant
            && let Some(set) = tenant.sets.get(&self.dialect_name)
        {
            return decide(app, tenant, set, event, problem).await;
        }
        let (reason, closed) =
            self.unavailable.clone().unwrap_or((Problem::Busy("the tenant is still being loaded"), true));
        let (dialect, own, bytes) = (self.dialect, event.clone(), event.wire.len());
        let work = async move { without_hooks(dialect, closed, &own, problem.unwrap_or(reason)) };
        app.processor.share(self.authenticated.as_deref().unwrap_or_default(), bytes, work).await
    }
}
