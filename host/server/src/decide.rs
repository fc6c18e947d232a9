//! Decides on one event of one tenant, within its quota and its deadline.

use std::time::Instant;

use hookbox::{Dialect, ErrorKind, HookReport, HookSet, Response};
use serde_json::json;

use crate::{
    answer::Answer,
    app::App,
    console::VerdictRow,
    event::TenantEvent,
    problem::Problem,
    records::{RecordEntry, RecordForms},
    tenant::Tenant,
};

/// The fuel that a tenant is charged per byte of an event: the approximate cost of decoding, hashing and recording it.
const FUEL_PER_BYTE: u64 = 10;

/// A decision and its record.
struct Decided {
    answer: Answer,
    record: RecordEntry,
    fuel: u64,
}

/// Decides on an event. With a problem that prevents the hooks from running, each fails with its own policy.
pub async fn decide(
    app: &App,
    tenant: &Tenant,
    set: &HookSet,
    event: &TenantEvent,
    problem: Option<Problem>,
) -> Answer {
    let decided = match problem {
        None => admitted(app, tenant, set, event).await,
        Some(problem) => Err(problem),
    };
    let decided = match decided {
        Ok(decided) => decided,
        Err(problem) => as_task(app, tenant, set, event, Some(problem)).await,
    };
    if app.record(&tenant.name, decided.record, event.time.last()).await.is_err() {
        let (dialect, event, bytes) = (set.dialect(), event.clone(), event.wire.len());
        return app
            .processor
            .share(&tenant.name, bytes, async move { lost(dialect, &event, Problem::Unrecorded) })
            .await;
    }
    decided.answer
}

/// Does the work on an event as one of its tenant's tasks, and charges the tenant for it.
async fn as_task(app: &App, tenant: &Tenant, set: &HookSet, event: &TenantEvent, problem: Option<Problem>) -> Decided {
    let (set, own, wanted, name) = (set.clone(), event.clone(), app.wanted(), tenant.name.clone());
    // A rejection because of the quota costs nothing. Otherwise the tenant could never pay off its debt.
    let per_byte = if matches!(problem, Some(Problem::OverQuota { .. })) { 0 } else { FUEL_PER_BYTE };
    let work = async move { work(&set, &own, problem, wanted, &name).await };
    let bytes = event.wire.len();
    let decided = app.processor.share(&tenant.name, bytes, work).await;
    let reading = per_byte.saturating_mul(bytes as u64);
    tenant.usage.fuel(decided.fuel.saturating_add(reading), Instant::now());
    decided
}

/// Decodes, decides, records and encodes.
async fn work(
    set: &HookSet,
    event: &TenantEvent,
    problem: Option<Problem>,
    wanted: RecordForms,
    tenant: &str,
) -> Decided {
    let why = problem.as_ref().map(ToString::to_string);
    let request = match (&problem, &why) {
        (Some(Problem::TooLarge(_)), Some(why)) => event.request().too_large(why),
        // After the deadline, each hook fails with a timeout.
        (None | Some(Problem::Deadline(_)), _) => event.request(),
        (Some(_), why) => event.request().incomplete(why.as_deref()),
    };
    let response = set.decide(request).await;
    let hooks = response.verdict().into_iter().flat_map(|verdict| &verdict.hooks);
    let fuel = hooks.filter_map(HookReport::fuel).sum();
    let record = (wanted.line || wanted.page).then(|| response.record(set.config(), &event.wire));
    let seen = wanted.page.then(|| VerdictRow::of(set, &response, problem.is_some()));
    let answer = Answer::of(response, problem);
    let record = wanted.entry(tenant, seen, || {
        let mut record = json!(record);
        if let (Some(problem), Some(fields)) = (answer.problem(), record.as_object_mut()) {
            fields.insert("problem".into(), problem.to_string().into());
        }
        record
    });
    Decided { answer, record, fuel }
}

/// The response instead of a verdict that cannot be recorded or has no memory: a block, if the event can be blocked.
pub fn lost(dialect: &'static dyn Dialect, event: &TenantEvent, problem: Problem) -> Answer {
    let response = Response::block(&event.request(), Some(dialect), ErrorKind::Internal, &problem.to_string());
    Answer::of(response, Some(problem))
}

/// The response without a hook set. With `closed`, failures block.
pub fn without_hooks(dialect: &'static dyn Dialect, closed: bool, event: &TenantEvent, problem: Problem) -> Answer {
    let why = problem.to_string();
    let response = Response::without_hooks(&event.request(), Some(dialect), closed, ErrorKind::Config, &why);
    Answer::of(response, Some(problem))
}

/// Decides within the tenant's quota and before the deadline.
///
/// # Errors
/// The problem that prevents the hooks from running.
async fn admitted(app: &App, tenant: &Tenant, set: &HookSet, event: &TenantEvent) -> Result<Decided, Problem> {
    let usage = &tenant.usage;
    usage.request(Instant::now()).map_err(|(what, after)| Problem::OverQuota { what, after })?;
    let late = || Problem::Deadline(event.time.limit);
    let deciding = async {
        let entering = app.gate.enter(&tenant.name, usage.bounds());
        let permit = tokio::time::timeout_at(event.time.deadline(), entering).await.map_err(|_| late())?;
        let _permit = permit.map_err(|_| Problem::Busy("the tenant's queue is full"))?;
        if tokio::time::Instant::now() >= event.time.deadline() {
            return Err(late());
        }
        Ok(as_task(app, tenant, set, event, None).await)
    };
    tokio::select! {
        // A finished decision takes precedence over a timeout.
        biased;
        decided = deciding => decided,
        () = tokio::time::sleep_until(event.time.end()) => Err(late()),
        () = app.ending() => Err(Problem::Draining),
    }
}
