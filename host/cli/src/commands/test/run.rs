//! Runs one case.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context;
use hookbox::{Config, ErrorKind, HookSet, Request, Runtime, Tenant, Verdict, config::ConfigErrors};

use super::{
    case::Case,
    expect::{Difference, Found},
    state::CaseStates,
    stub::Stubs,
};
use crate::{report, trust};

/// The result of a case.
pub struct CaseResult {
    pub steps: Vec<StepResult>,
    pub time: Duration,
}

/// The result of one event.
pub struct StepResult {
    /// The actual result. `None` for an invalid event.
    pub found: Option<Found>,
    pub differences: Vec<Difference>,
    /// The output and log of each hook.
    pub hooks: Vec<String>,
}

/// Runs the hooks of a configuration on the events of a case. The configuration is `settings`, with paths relative to
/// `file`. `number` separates its state from that of other cases. `looks` is the digest of a configuration that was
/// found: without the user's trust, it starts no programs and sends no requests.
pub async fn run(
    runtime: &Runtime,
    stories: &CaseStates,
    number: usize,
    case: &Case,
    (settings, file): (&str, &Path),
    looks: Option<&str>,
) -> anyhow::Result<CaseResult> {
    let begin = Instant::now();
    let tenant = format!("case-{number}");
    stories.begin(&tenant, &case.state);
    let mut loaded = Config::parse(settings, file, None).map_err(|errors: ConfigErrors| anyhow::Error::new(errors))?;
    let held = looks.is_some_and(|digest| trust::hold_back(&mut loaded.config, digest, true));
    // Nothing leaves an untrusted checkout: a request without a stub is a difference.
    let stubbed = held || case.http.is_some();
    let stubs = Stubs::new(case.http.as_deref().unwrap_or_default(), case.llm.as_deref().unwrap_or_default());
    // Without a configured model there is no real one to use.
    let own_model = case.llm.is_some() || loaded.config.settings.llm.is_none();
    let owner = Tenant::new(&tenant);
    let owner = if own_model { owner.model(stubs.clone()) } else { owner };
    let builder = HookSet::builder(runtime, owner, loaded.config);
    let builder = if stubbed { builder.http_client(stubs.clone()) } else { builder };
    let hooks = builder.load().await?;
    let mut steps = Vec::new();
    for step in &case.steps {
        crate::commands::event::check(hooks.dialect(), step.event_name.as_deref())?;
        let response = hooks.decide(Request::new(step.wire.as_bytes()).event_name(step.event_name.as_deref())).await;
        let invalid = response.error.as_ref().filter(|error| error.kind == ErrorKind::Event);
        steps.push(match (invalid, response.verdict()) {
            (None, Some(verdict)) => {
                let state = stories.left(&tenant).await.context("cannot read the state")?;
                let found = Found::new(verdict, state);
                let mut differences = step.expect.differences(verdict, &found);
                differences.extend(Difference::lines(stubs.wrong()));
                StepResult { found: Some(found), differences, hooks: decisions(verdict) }
            }
            (error, _) => {
                let why = error.map_or("internal error (see above)", |error| error.message.as_str());
                let differences = vec![Difference { lines: vec![why.to_owned()], part: None }];
                StepResult { found: None, differences, hooks: Vec::new() }
            }
        });
    }
    if let Some(last) = steps.last_mut() {
        last.differences.extend(Difference::lines(stubs.left()));
    }
    Ok(CaseResult { steps, time: begin.elapsed() })
}

fn decisions(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    for hook in &verdict.hooks {
        lines.push(format!("{}  {}", report::name(hook), report::outcome(hook)).trim_end().to_owned());
        lines.extend(report::asides(hook).into_iter().map(|line| format!("   {line}")));
    }
    lines
}
