//! The facts that are counted about a response and about each hook's part in it.

use std::{sync::Arc, time::Duration};

use hookbox::{DecisionKind, HookOutput, HookReport, Mode, Verdict};

use crate::answer::Answer;

/// The facts about a response for the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is counted on its own")]
pub struct ResponseFacts {
    /// There is a verdict.
    pub decided: bool,
    /// The verdict blocks.
    pub denied: bool,
    /// The user is asked.
    pub asked: bool,
    /// An enforced hook failed.
    pub failed: bool,
    /// The verdict would differ if monitored hooks were enforced.
    pub would: bool,
    /// The name of the problem that prevented the hooks from running.
    pub problem: Option<&'static str>,
    /// The time until the verdict, in µs.
    pub us: u64,
}

impl ResponseFacts {
    /// The facts about an answer that took this long.
    pub fn of(answer: &Answer, took: Duration) -> Self {
        let problem = answer.problem().map(crate::problem::Problem::name);
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        match answer {
            Answer::Problem(_) => Self { problem, us, ..Self::default() },
            Answer::Decided(response) | Answer::Blocked(_, response) => {
                let verdict = response.verdict().filter(|_| problem.is_none());
                Self {
                    decided: true,
                    denied: response.blocks,
                    asked: response.outcome == "ask",
                    failed: verdict.is_some_and(any_enforced_failed),
                    would: verdict.is_some_and(would_differ),
                    problem,
                    us,
                }
            }
        }
    }
}

/// Returns true if an enforced hook failed.
pub fn any_enforced_failed(verdict: &Verdict) -> bool {
    verdict.hooks.iter().any(|hook| hook.mode == Mode::Enforce && matches!(hook.outcome(), Some(Err(_))))
}

/// Returns true if the verdict would differ if monitored hooks were enforced.
pub fn would_differ(verdict: &Verdict) -> bool {
    verdict.would_be.as_ref().is_some_and(|would_be| would_be.output.word() != verdict.output().word())
}

/// Returns true if a part of an output was replaced by a safer one.
pub fn is_degraded(verdict: &Verdict) -> bool {
    let of_hooks = verdict.hooks.iter().filter_map(HookReport::run).flat_map(|run| &run.notes);
    let notes = of_hooks.chain(verdict.outcome.notes.iter().map(|(_, note)| note));
    notes.into_iter().any(|note| note.kind == hookbox::NoteKind::Degraded)
}

/// The counted facts about a hook's part in a verdict.
#[derive(Debug, Clone)]
pub struct Part {
    pub pointer: Arc<str>,
    pub monitored: bool,
    /// True if it blocked, or would have in monitor mode.
    pub denied: bool,
    /// True if it asked, or would have in monitor mode.
    pub asked: bool,
    /// The word of its counted output. In monitor mode, of the output that would count.
    pub word: &'static str,
    pub reason: Option<String>,
    /// The cause and the message of its failure.
    pub failure: Option<(&'static str, String)>,
    pub us: u64,
    pub fuel: Option<u64>,
    pub digest: Option<Arc<str>>,
}

/// The longest text of a part, in characters.
const TEXT: usize = 200;

/// The parts of the hooks that ran.
pub fn parts(verdict: &Verdict) -> Vec<Part> {
    verdict.hooks.iter().filter_map(part).collect()
}

fn part(hook: &HookReport) -> Option<Part> {
    let run = hook.run()?;
    let monitored = hook.mode == Mode::Monitor;
    let silent = HookOutput::default();
    let counted = if monitored { hook.watched.as_deref().unwrap_or(&silent) } else { &hook.counted };
    let denied = counted.halt.is_some() || counted.decision_kind() >= Some(DecisionKind::Skip);
    let shorten = |text: &str| hookbox::shorten(text, TEXT);
    let failure = run.result.as_ref().err();
    Some(Part {
        pointer: Arc::clone(&hook.pointer),
        monitored,
        denied,
        asked: !denied && counted.decision_kind() == Some(DecisionKind::Ask),
        word: counted.word(),
        reason: counted.reason.as_deref().map(shorten),
        failure: failure.map(|failure| (failure.cause.word(), shorten(&failure.message))),
        us: u64::try_from(run.time.as_micros()).unwrap_or(u64::MAX),
        fuel: run.fuel,
        digest: hook.digest.clone(),
    })
}
