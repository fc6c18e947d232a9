//! The verdict on one event, with a report of each hook.

use std::{borrow::Cow, slice, sync::Arc};

use hookbox_protocol::{Cause, DecisionKind, Dialect, Event, EventKind, Failure, HookOutput, Outcome};
use hookbox_sandbox::Run;
use serde_json::Value;

use crate::config::{Diagnostic, Mode};

/// The verdict of all hooks on one event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verdict {
    /// The event's name as the client wrote it.
    pub event: String,
    /// The event kind.
    pub kind: EventKind,
    /// The tool's name, for events about a tool.
    pub tool: Option<String>,
    /// The dialect and profile of the configuration.
    pub dialect: &'static str,
    /// The report of every hook of the event, in configuration order. Includes hooks that did not run.
    pub hooks: Vec<HookReport>,
    /// The merged output of all hooks, and the sentence of the specification that decided.
    pub outcome: Box<Outcome>,
    /// The outcome if monitor-mode hooks were enforced. `None` if they had no output.
    pub would_be: Option<Box<Outcome>>,
    /// The JSON for the client. A string is plain text. `None`: no output.
    pub wire: Option<Value>,
}

impl Verdict {
    pub(crate) fn new(
        dialect: &dyn Dialect,
        event: &Event,
        mut hooks: Vec<HookReport>,
        mut outcome: Box<Outcome>,
        would_be: Option<Box<Outcome>>,
        wire: Option<Value>,
    ) -> Self {
        outcome.notes.extend(event.notes.iter().map(|note| (None, note.clone())));
        // Moves each note of the merge to the hook whose output it is about.
        outcome.notes.retain(|(index, note)| match index.and_then(|index| hooks.get_mut(index)) {
            Some(HookReport { status: Status::Ran(run), .. }) => {
                run.notes.push(note.clone());
                false
            }
            _ => true,
        });
        let tool = event.call.as_ref().map(|call| call.name.clone());
        let (name, kind) = (event.name.clone(), event.kind());
        Self { event: name, kind, tool, dialect: dialect.name(), hooks, outcome, would_be, wire }
    }

    /// The text for the client, without a final newline. Empty if there is no output.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.wire.as_ref().map(text_of).unwrap_or_default().0.into_bytes()
    }

    /// The merged output of all hooks.
    pub fn output(&self) -> &HookOutput {
        &self.outcome.output
    }

    /// The diagnostics of hooks that could not be loaded: what, where and what to do. Each of these hooks failed with
    /// [`hookbox_protocol::Cause::Load`]. Leaves out monitor-mode hooks, because nothing depends on them.
    pub fn unusable(&self) -> impl Iterator<Item = &Diagnostic> {
        self.hooks.iter().filter(|hook| hook.mode == Mode::Enforce).filter_map(|hook| hook.unusable.as_deref())
    }

    /// Like [`Verdict::unusable`], without hooks that have `ignore` as their failure policy.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Diagnostic> {
        let hooks = self.hooks.iter().filter(|hook| hook.mode == Mode::Enforce && !hook.may_fail);
        hooks.filter_map(|hook| hook.unusable.as_deref())
    }

    /// Returns true if the verdict changes what the client does: it stops, asks, or rewrites what it does not allow.
    pub fn restricts(&self) -> bool {
        self.output().restricts()
    }

    /// Like [`Verdict::restricts`], counting only the hooks that could be called.
    pub(crate) fn usable_restrict(&self) -> bool {
        self.hooks.iter().any(|hook| !hook.was_not_asked() && hook.counted.restricts())
    }

    /// Returns true if the verdict prevents the event's action, and does not only ask the user.
    pub fn blocks(&self) -> bool {
        let output = self.output();
        output.halt.is_some() || output.decision_kind() >= Some(DecisionKind::Skip)
    }

    /// The reason of the halt, or else of the decision.
    pub fn reason(&self) -> Option<&str> {
        let output = self.output();
        let halt = output.halt.as_ref().and_then(|halt| halt.reason.as_deref());
        halt.or(output.reason.as_deref())
    }

    /// The text that the model gets by exit code 2 and stderr, because the client has no JSON field for it here. `None`
    /// if the verdict says anything else: a client that gets that code ignores JSON on stdout.
    pub fn feedback(&self) -> Option<&str> {
        let output = self.output();
        let text = &output.feedback;
        let alone = HookOutput { feedback: text.clone(), system_message: text.clone(), ..HookOutput::default() };
        text.as_deref().filter(|_| *output == alone)
    }

    /// Returns true if any hook that ran failed.
    pub fn any_failed(&self) -> bool {
        self.hooks.iter().filter_map(HookReport::run).any(|run| run.result.is_err())
    }
}

/// The text for the client, and true if it is plain text. A JSON string means plain text.
pub(crate) fn text_of(wire: &Value) -> (String, bool) {
    match wire {
        Value::String(text) => (text.clone(), true),
        wire => (wire.to_string(), false),
    }
}

/// The report of one hook in a verdict.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookReport {
    /// The hook's name.
    pub name: Arc<str>,
    /// The JSON pointer of the hook in the configuration.
    pub pointer: Arc<str>,
    /// The matcher as written. `None`: everything.
    pub matcher: Option<Arc<str>>,
    /// The hook's mode: enforced or monitored.
    pub mode: Mode,
    /// The hook's status.
    pub status: Status,
    /// The part of its output that counts, after failure policy, authority and degradation. Empty if it did not run.
    pub counted: Box<HookOutput>,
    /// The part of its output that would count if the hook were enforced. `None` unless it is monitored.
    pub watched: Option<Box<HookOutput>>,
    /// SHA-256 of the component, in hexadecimal.
    pub digest: Option<Arc<str>>,
    /// The publisher of the component, if their signature was verified.
    pub publisher: Option<Arc<str>>,
    /// The diagnostic, if the hook could not be loaded.
    pub unusable: Option<Box<Diagnostic>>,
    /// True if the configuration sets `ignore` as its failure policy.
    pub(crate) may_fail: bool,
}

impl HookReport {
    /// Returns true if the hook failed before it could be called.
    fn was_not_asked(&self) -> bool {
        let failure = self.run().and_then(|run| run.result.as_ref().err());
        failure.is_some_and(|failure| matches!(failure.cause, Cause::Load | Cause::Event | Cause::EventTooLarge))
    }

    /// Removes the hook's decision because the next stage runs. The rest of its output still counts.
    pub(crate) fn fall_back(&mut self) {
        if let Status::Ran(run) = &mut self.status {
            run.notes.extend(self.counted.fall_back());
            self.watched.as_deref_mut().map(HookOutput::fall_back);
        }
    }

    /// The hook's run, if it ran.
    pub fn run(&self) -> Option<&Run> {
        match &self.status {
            Status::Ran(run) => Some(run),
            _ => None,
        }
    }

    /// The hook's output or failure, if it ran.
    pub fn outcome(&self) -> Option<&Result<Box<HookOutput>, Failure>> {
        self.run().map(|run| &run.result)
    }

    /// Fuel that the hook used, roughly one unit per instruction. `None` if the handler is not a component.
    pub fn fuel(&self) -> Option<u64> {
        self.run()?.fuel
    }
}

/// The counted output of each hook, in order. It is empty for a hook that did not run.
pub(crate) fn outputs(hooks: &[HookReport]) -> Cow<'_, [HookOutput]> {
    match hooks {
        [only] => Cow::Borrowed(slice::from_ref(&*only.counted)),
        many => many.iter().map(|hook| HookOutput::clone(&hook.counted)).collect(),
    }
}

/// Like [`outputs`], as if monitor-mode hooks were enforced. `None` if they have no output.
pub(crate) fn with_watched(hooks: &[HookReport]) -> Option<Vec<HookOutput>> {
    let says = |hook: &HookReport| hook.watched.as_ref().is_some_and(|watched| !watched.is_silent());
    let output = |hook: &HookReport| HookOutput::clone(hook.watched.as_ref().unwrap_or(&hook.counted));
    hooks.iter().any(says).then(|| hooks.iter().map(output).collect())
}

/// The status of a hook after an event.
#[derive(Debug, Clone)]
pub enum Status {
    /// The hook ran. The notes of the run are complete: they include what was removed or changed in its output, and
    /// what the merge dropped.
    Ran(Box<Run>),
    /// The hook's matcher does not match this event.
    NotMatched,
    /// The hook handles the events that its component exports, and this event is not one of them.
    NotHandled,
    /// An earlier hook ended the event.
    NotReached,
}
