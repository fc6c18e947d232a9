//! The pipeline of one event: decode → match → call → merge → encode.

use hookbox_protocol::{Event, authority, dialect::Flow};

use crate::{
    error::DispatchError,
    hooks::Hooks,
    run::{run_chain, run_together},
    select::{Conditions, Selected, select},
    telemetry,
    verdict::{HookReport, Verdict, outputs, with_watched},
};

/// Decodes an event and returns its verdict.
pub(crate) async fn dispatch(hooks: &Hooks, wire: &[u8], name: Option<&str>) -> Result<Verdict, DispatchError> {
    let mut event = hooks.dialect().decode_event(wire, name)?;
    Ok(dispatch_event(hooks, &mut event, Conditions::default()).await)
}

/// Returns the verdict on a typed event.
pub(crate) async fn dispatch_event(hooks: &Hooks, event: &mut Event, conditions: Conditions<'_>) -> Verdict {
    let span = tracing::debug_span!("dispatch", event = event.name, tenant = hooks.tenant());
    hookbox_sandbox::traced!(span, ask(hooks, event, conditions))
}

/// Runs the hooks stage by stage, and merges their outputs.
async fn ask(hooks: &Hooks, event: &mut Event, conditions: Conditions<'_>) -> Verdict {
    let dialect = hooks.dialect();
    let (mut reports, stages) = (Vec::<HookReport>::new(), dialect.stages(event.kind()));
    for stage in stages {
        // The previous stage did not decide.
        reports.iter_mut().filter(|_| dialect.falls_back()).for_each(HookReport::fall_back);
        let sent = event.turn_into(*stage, dialect);
        reports.extend(call_all(hooks, event, conditions).await);
        event.turn_back(sent);
        if stages.len() > 1 && dialect.decides(*stage, &outputs(&reports)) {
            break;
        }
    }
    let outcome = Box::new(authority::merge(dialect, event, &outputs(&reports)));
    let would_be = with_watched(&reports).map(|outputs| Box::new(authority::merge(dialect, event, &outputs)));
    let wire = dialect.encode_outcome(event, &outcome.output);
    let verdict = Verdict::new(dialect, event, reports, outcome, would_be, wire);
    telemetry::dispatched(hooks, &verdict);
    verdict
}

/// Calls every hook of one stage, in the order and with the concurrency of the dialect.
async fn call_all(hooks: &Hooks, event: &Event, conditions: Conditions<'_>) -> Vec<HookReport> {
    let selected = select(hooks, event, conditions).await;
    let flow = if selected.iter().any(Selected::asks_for_sequence) { Flow::Chained } else { hooks.dialect().flow() };
    match flow {
        Flow::Chained => Box::pin(run_chain(hooks, event, selected)).await,
        Flow::Sequential => run_together(hooks, event, selected, 1).await,
        Flow::Concurrent(bound) => {
            let at_once = hooks.config.max_concurrent.unwrap_or(bound).max(1);
            run_together(hooks, event, selected, at_once).await
        }
    }
}
