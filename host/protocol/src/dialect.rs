//! What a hook protocol is, and the one list of all of them.

pub mod blade;
pub mod blade_callback;
pub mod claude;
pub mod codebuddy;
pub mod codex;
mod common;
pub mod copilot;
pub mod gemini;
pub mod opencode;
pub mod picoclaw;
mod recognise;
mod translate;
mod usage;

use core::time::Duration;

use serde_json::Value;

pub use recognise::{Caller, Mark, Marks, caller, recognise, recognised};
pub use translate::{is_same_client, other_names, translate};
pub use usage::Usage;

use crate::{
    command::{Ended, Said, by_exit_code},
    event::{Event, EventKind, Raw},
    failure::{Cause, FailurePolicy, Fallback},
    glimpse::{self, Glimpse, Places},
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{DecisionKind, HookOutput, Note, Scope},
};

/// Every dialect and profile, by name. A new dialect is one folder and one line here.
pub static ALL: &[&dyn Dialect] = &[
    &claude::DOCUMENTED,
    &claude::OBSERVED,
    &codebuddy::DOCUMENTED,
    &codebuddy::OBSERVED,
    &blade::DOCUMENTED,
    &blade::OBSERVED,
    &blade_callback::DOCUMENTED,
    &blade_callback::OBSERVED,
    &picoclaw::DIALECT,
    &copilot::DIALECT,
    &opencode::DIALECT,
    &codex::DIALECT,
    &gemini::DIALECT,
];

/// The dialect of that name: `claude`, `claude@observed`, …
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name() == name)
}

/// A client's own names of a tool, and Claude Code's.
pub type ToolNames = (&'static [&'static str], &'static [&'static str]);

/// A hook protocol. All methods are pure and total.
///
/// The default methods are what the JSON-object dialects share; `rows` is the table everything else reads.
pub trait Dialect: Send + Sync + 'static {
    /// The name in configurations, with the profile: `claude`, `claude@observed`.
    fn name(&self) -> &'static str;

    /// One row per event the specification names.
    fn specs(&self) -> &'static [EventSpec];

    /// The row for events the specification does not name; its `name` is a placeholder.
    fn other_spec(&self) -> &'static EventSpec;

    /// How the hooks of one event run.
    fn flow(&self) -> Flow;

    /// How the `hooks` object of a configuration is written.
    fn shape(&self) -> ConfigShape;

    /// Returns true if entries of a configuration in groups may stand there flat, as copilot's own do.
    fn takes_flat_entries(&self) -> bool {
        false
    }

    /// How matchers are read; `None`: the dialect has no matchers.
    fn match_style(&self) -> Option<MatchStyle>;

    /// The tools that Claude Code has under another name.
    fn tool_names(&self) -> &'static [ToolNames] {
        &[]
    }

    /// Other names of a tool, against which matchers are held as well: what Claude Code calls it, or what the client does.
    fn also_called(&self, tool: &str) -> &'static [&'static str] {
        let other = |(own, claudes): &ToolNames| {
            if own.contains(&tool) { Some(*claudes) } else { claudes.contains(&tool).then_some(*own) }
        };
        self.tool_names().iter().find_map(other).unwrap_or_default()
    }

    /// What tells that a payload is of this dialect's client. Profiles have those of the dialect they are one of.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// How the matchers of one event are read, where that differs.
    fn match_style_of(&self, _spec: &EventSpec) -> Option<MatchStyle> {
        self.match_style()
    }

    /// What a bare number means where a configuration gives a hook's `timeout`.
    fn timeout_unit(&self) -> TimeUnit {
        TimeUnit::Seconds
    }

    /// Seconds that the client gives a command that says nothing of its own; `None`: as every hook of ours.
    fn command_timeout(&self) -> Option<f64> {
        None
    }

    /// How often in a row hooks may keep an agent going where the client itself has no limit; `None`: that is its own concern.
    fn stop_limit(&self) -> Option<u32> {
        None
    }

    /// How the client is configured, for warnings.
    fn usage(&self) -> Usage {
        Usage::default()
    }

    /// How long the client waits for its hooks on an event of this row, unless its settings say otherwise.
    fn client_timeout(&self, _spec: &EventSpec) -> Duration {
        Duration::from_mins(1)
    }

    /// The kinds of events that are watched and never asked about, where these are events of one name.
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// Output fields the contract knows, at whatever depth. What a component passes through as `extra` may not carry
    /// them (design: an `extra` "may never carry a field that the contract knows").
    fn known_keys(&self) -> &'static [&'static str];

    /// Reads one event. `name` overrides the event name, for wires that do not carry it.
    ///
    /// # Errors
    /// [`DecodeError`], with the place.
    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError>;

    /// Where events have their name and their tool's, for [`Dialect::glimpse`].
    fn places(&self) -> &'static Places {
        &Places { name: &[&["hook_event_name"]], tool: &[&["tool_name"]] }
    }

    /// What can be told of a text that [`Dialect::decode_event`] cannot read: which event it is, and of which tool. `None`
    /// where not even the name is there, or two of them.
    fn glimpse(&self, wire: &[u8], name: Option<&str>) -> Option<Glimpse> {
        let own = name.and_then(|_| glimpse::glimpse(self.places(), wire, None));
        // decisions.md#who-is-calling: "A name that contradicts the event's own makes the event unreadable": it could be either.
        if let (Some(given), Some(own)) = (name, &own)
            && !common::agree(self, given, &own.name)
        {
            return None;
        }
        glimpse::glimpse(self.places(), wire, name)
    }

    /// The row of an event that may be broken; `None` where nothing tells which event it is.
    fn glimpse_spec(&self, wire: &[u8], name: Option<&str>) -> Option<&'static EventSpec> {
        if let Ok(event) = self.decode_event(wire, name) {
            return Some(self.spec_of(&event));
        }
        let name = self.glimpse(wire, name)?.name;
        Some(self.spec_by_name(&name).unwrap_or(self.other_spec()))
    }

    /// Writes an event: the inverse of [`Dialect::decode_event`], and for events a library user made, what a client
    /// would have sent.
    fn encode_event(&self, event: &Event) -> Value;

    /// Reads what a handler that speaks this dialect printed. Notes tell what was accepted although it should not be.
    ///
    /// # Errors
    /// [`DecodeError`]: the output counts as a failed handler's.
    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError>;

    /// What a command that was run as a hook said, by its exit code and what it printed.
    ///
    /// # Errors
    /// [`crate::Failure`]: it said nothing.
    fn read_command(&self, event: &Event, ended: &Ended<'_>) -> Said {
        by_exit_code(self, event, ended)
    }

    /// Reads what a handler printed that is not JSON object, where the client has a use for plain text.
    fn decode_text(&self, _event: &Event, _text: &str) -> Option<HookOutput> {
        None
    }

    /// Whose hooks are asked about an event of this kind, one stage after another; before the last, only until a stage
    /// [decides](Dialect::decides). The hooks of a stage are those configured for [`Dialect::spec`]`(stage).name` and get
    /// the event as one of theirs.
    fn stages(&self, kind: EventKind) -> &'static [EventKind] {
        kind.alone()
    }

    /// Returns true if the outputs of a stage are final, so that the hooks of later stages are not asked. When they are not, and
    /// a stage follows, their decisions [fall back](Dialect::falls_back).
    fn decides(&self, _stage: EventKind, _answers: &[HookOutput]) -> bool {
        false
    }

    /// Returns true if the decisions of a stage that was not final are taken out with [`HookOutput::fall_back`] before merging.
    /// Otherwise they stand beside those of the later stages.
    fn falls_back(&self) -> bool {
        true
    }

    /// Returns true if this answer ends the event: no later hook runs.
    fn stops(&self, _event: &Event, _answer: &HookOutput) -> bool {
        false
    }

    /// Makes the event what the next hook sees, where the dialect chains ([`Flow::Chained`]): the typed fields and
    /// [`Event::raw`] with what `answer` rewrote.
    fn rewrite(&self, _event: &mut Event, _answer: &HookOutput) {}

    /// Returns true if a hook can have another tool run instead of the one that was called.
    fn rewrites_tool(&self, _kind: EventKind) -> bool {
        false
    }

    /// Returns true if the client gives [`HookOutput::system_message`] to the model: then it needs the authority for context too.
    fn message_is_context(&self) -> bool {
        false
    }

    /// Merges the outputs of all hooks, in configuration order. `event` is the one the client sent, also where the
    /// dialect chains. Answers are already within what the event's row can say (see [`crate::degrade`]).
    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome;

    /// The event as command handlers read it.
    fn for_commands(&self, event: &Event) -> Raw {
        event.raw.clone()
    }

    /// Writes the verdict. A string is plain text, which goes out as it stands; `None`: nothing at all, because this
    /// event is never answered, or there is nothing to say that the client would not misread.
    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value>;

    /// What a hook that failed so counts as when the configuration does not say.
    fn default_policy(&self, _kind: EventKind, _cause: Cause) -> FailurePolicy {
        FailurePolicy::Ignore
    }

    /// How a program that speaks for the hooks tells the client to block, when it failed itself. `wire` is the event as far
    /// as it was read, `name` is its name where the wire does not carry it.
    fn fail_closed(&self, _wire: &[u8], _name: Option<&str>, _reason: &str) -> Fallback {
        Fallback::block(None)
    }

    /// How it tells the client that it failed, when nothing need be blocked.
    fn fail_open(&self) -> Fallback {
        Fallback::tell()
    }

    /// Returns true if the client reads stderr where stdout is empty: then nothing may stand there.
    fn reads_stderr(&self) -> bool {
        false
    }

    /// The row of an event.
    fn spec(&self, kind: EventKind) -> &'static EventSpec {
        self.specs().iter().find(|spec| spec.kind == kind).unwrap_or(self.other_spec())
    }

    /// The row of this event: by its name, or else by its kind.
    fn spec_of(&self, event: &Event) -> &'static EventSpec {
        let named = self.spec_by_name(&event.name).filter(|spec| spec.kind == event.kind());
        named.unwrap_or_else(|| self.spec(event.kind()))
    }

    /// The row of an event by its wire name, if the specification names it.
    fn spec_by_name(&self, name: &str) -> Option<&'static EventSpec> {
        self.specs().iter().find(|spec| spec.name == name)
    }
}

/// The verdict of all hooks, before it is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What all hooks together say.
    pub output: HookOutput,
    /// The sentence of `docs/spec` that decided, word for word, as `PAGE#HEADING: SENTENCE`.
    pub clause: &'static str,
    /// What had no effect, by the index of the hook where it was one hook's.
    pub notes: Vec<(Option<usize>, Note)>,
}

/// What a dialect's specification says about one event.
#[derive(Debug)]
pub struct EventSpec {
    /// The event's name on the wire.
    pub name: &'static str,
    /// Which event of the contract it is.
    pub kind: EventKind,
    /// The field (by our name) a matcher is held against; `None`: matchers are ignored.
    pub matched: Option<&'static str>,
    /// True if a hook can keep it from happening.
    pub blockable: bool,
    /// Wire fields without which the event means nothing.
    pub required: &'static [&'static str],
    /// The event's own fields that are typed, beside those of `names`. All others reach hooks as they came.
    pub fields: &'static [&'static str],
    /// Wire names that differ from ours, as (wire, ours).
    pub names: &'static [(&'static str, &'static str)],
    /// What an output to it can say.
    pub expressible: Expressible,
}

/// What an output to one event can say in one dialect. [`crate::degrade`] makes everything else the nearest safer thing.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // one per thing that can be said, not one state
pub struct Expressible {
    /// The decisions the wire has words for.
    pub decisions: &'static [DecisionKind],
    /// True if what the event carries can be replaced.
    pub rewrite: bool,
    /// True if text can be added to the model's context.
    pub context: bool,
    /// True if a warning can be shown to the user.
    pub system_message: bool,
    /// How far a halt can reach.
    pub halt: &'static [Scope],
    /// True if session environment variables can be set.
    pub env: bool,
}

/// How the hooks of one event run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// In array order, one after another, each seeing the original event.
    Sequential,
    /// At once, at most so many at a time (overridable); merged in configuration order.
    Concurrent(usize),
    /// One after another, each seeing the event as the hooks before it rewrote it.
    Chained,
}

/// What a bare number of time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, fractions allowed.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// How the `hooks` object of a configuration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigShape {
    /// Event → matcher groups → handlers.
    Groups,
    /// Event → handlers.
    Flat,
    /// Name → handler, with `priority`, `observe`, `intercept`.
    Named,
}
