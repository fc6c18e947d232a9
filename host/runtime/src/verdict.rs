//! What became of one event, and how.

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
    /// Which event it is.
    pub kind: EventKind,
    /// The tool, on events about a tool.
    pub tool: Option<String>,
    /// The dialect and profile it was judged under.
    pub dialect: &'static str,
    /// Every hook of the event in configuration order, also those that did not run.
    pub hooks: Vec<HookReport>,
    /// What all of them together say, and the sentence of the specification that decided.
    pub outcome: Box<Outcome>,
    /// What it would have come to if the hooks decided that are only watched; `None` where none of them said anything.
    pub would_be: Option<Box<Outcome>>,
    /// What the client is told; `None` for nothing at all; a string is plain text.
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
        // Each hook gets the notes the merge made about its answer.
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

    /// The bytes for the client, without a newline. Empty when there is nothing to say, or nobody to hear it.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.wire.as_ref().map(text_of).unwrap_or_default().0.into_bytes()
    }

    /// What all hooks together say.
    pub fn output(&self) -> &HookOutput {
        &self.outcome.output
    }

    /// Why hooks could not be loaded: what, where and what to do. Each of them failed with
    /// [`hookbox_protocol::Cause::Load`]. Those that are only watched are left out: nothing depends on them.
    pub fn unusable(&self) -> impl Iterator<Item = &Diagnostic> {
        self.hooks.iter().filter(|hook| hook.mode == Mode::Enforce).filter_map(|hook| hook.unusable.as_deref())
    }

    /// As [`Verdict::unusable`], without hooks whose failures the configuration ignores in so many words.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Diagnostic> {
        let hooks = self.hooks.iter().filter(|hook| hook.mode == Mode::Enforce && !hook.may_fail);
        hooks.filter_map(|hook| hook.unusable.as_deref())
    }

    /// Returns true if it keeps something from going on as it would have: it stops, asks, or rewrites what it does not allow.
    pub fn restricts(&self) -> bool {
        self.output().restricts()
    }

    /// As [`Verdict::restricts`], of what those hooks say that could be loaded.
    pub(crate) fn usable_restrict(&self) -> bool {
        self.hooks.iter().any(|hook| !hook.was_not_asked() && hook.counted.restricts())
    }

    /// Returns true if it keeps something from happening at all, and does not only ask.
    pub fn blocks(&self) -> bool {
        let output = self.output();
        output.halt.is_some() || output.decision_kind() >= Some(DecisionKind::Skip)
    }

    /// Why, in the words of what it says first: a halt, or a decision.
    pub fn reason(&self) -> Option<&str> {
        let output = self.output();
        let halt = output.halt.as_ref().and_then(|halt| halt.reason.as_deref());
        halt.or(output.reason.as_deref())
    }

    /// What a front end with an exit code gives to the model by 2 and stderr, because the client has no field for it here.
    /// Only where nothing else is said: beside that code the client reads no JSON.
    pub fn feedback(&self) -> Option<&str> {
        let output = self.output();
        let text = &output.feedback;
        let alone = HookOutput { feedback: text.clone(), system_message: text.clone(), ..HookOutput::default() };
        text.as_deref().filter(|_| *output == alone)
    }

    /// Returns true if some hook that ran failed.
    pub fn any_failed(&self) -> bool {
        self.hooks.iter().filter_map(HookReport::run).any(|run| run.result.is_err())
    }
}

/// The text for the client, and that it is plain text: a JSON string stands for that.
pub(crate) fn text_of(wire: &Value) -> (String, bool) {
    match wire {
        Value::String(text) => (text.clone(), true),
        wire => (wire.to_string(), false),
    }
}

/// One hook's part in a verdict.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookReport {
    /// The hook's name.
    pub name: Arc<str>,
    /// JSON pointer of the hook in the configuration.
    pub pointer: Arc<str>,
    /// The matcher as written; `None`: everything.
    pub matcher: Option<Arc<str>>,
    /// True if it decides.
    pub mode: Mode,
    /// What became of it.
    pub status: Status,
    /// What counts of what it said: after failure policy, authority and degradation. Nothing when it did not run.
    pub counted: Box<HookOutput>,
    /// What would count of it, when it is only watched.
    pub watched: Option<Box<HookOutput>>,
    /// SHA-256 of the component, in hexadecimal.
    pub digest: Option<Arc<str>>,
    /// Why it could not be loaded, if it failed for that.
    pub unusable: Option<Box<Diagnostic>>,
    /// The configuration says `ignore` of its failures.
    pub(crate) may_fail: bool,
}

impl HookReport {
    /// Returns true if it failed before it could be asked.
    fn was_not_asked(&self) -> bool {
        let failure = self.run().and_then(|run| run.result.as_ref().err());
        failure.is_some_and(|failure| matches!(failure.cause, Cause::Load | Cause::Event | Cause::EventTooLarge))
    }

    /// Takes its decision out, because another stage is asked; what else it said still counts.
    pub(crate) fn fall_back(&mut self) {
        if let Status::Ran(run) = &mut self.status {
            run.notes.extend(self.counted.fall_back());
            self.watched.as_deref_mut().map(HookOutput::fall_back);
        }
    }

    /// How it ran, if it did.
    pub fn run(&self) -> Option<&Run> {
        match &self.status {
            Status::Ran(run) => Some(run),
            _ => None,
        }
    }

    /// What it said, or how it failed, when it ran.
    pub fn outcome(&self) -> Option<&Result<Box<HookOutput>, Failure>> {
        self.run().map(|run| &run.result)
    }

    /// Fuel it used: instructions, roughly. `None` for handlers that are not components.
    pub fn fuel(&self) -> Option<u64> {
        self.run()?.fuel
    }
}

/// What counts of each hook, in order. A hook that did not run said nothing.
pub(crate) fn outputs(hooks: &[HookReport]) -> Cow<'_, [HookOutput]> {
    match hooks {
        [only] => Cow::Borrowed(slice::from_ref(&*only.counted)),
        many => many.iter().map(|hook| HookOutput::clone(&hook.counted)).collect(),
    }
}

/// As [`outputs`], with what would count of hooks that are only watched; `None` where that is nothing.
pub(crate) fn with_watched(hooks: &[HookReport]) -> Option<Vec<HookOutput>> {
    let says = |hook: &HookReport| hook.watched.as_ref().is_some_and(|watched| !watched.is_silent());
    let output = |hook: &HookReport| HookOutput::clone(hook.watched.as_ref().unwrap_or(&hook.counted));
    hooks.iter().any(says).then(|| hooks.iter().map(output).collect())
}

/// What became of a hook.
#[derive(Debug, Clone)]
pub enum Status {
    /// It ran. The notes of the run are all there are about the hook: also what was taken out or changed of what it said,
    /// and what the merge dropped.
    Ran(Box<Run>),
    /// Its matcher does not take this event.
    NotMatched,
    /// It is for whatever the component exports, and this event is not of it.
    NotHandled,
    /// An earlier hook ended the event.
    NotReached,
}
