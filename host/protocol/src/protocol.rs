//! The [`Dialect`] trait, which describes a hook protocol. All dialects: [`crate::dialect`].

mod marks;
pub(crate) mod spec;
mod usage;

use core::time::Duration;

use serde_json::Value;

pub use marks::{Mark, Marks};
pub use spec::{ConfigShape, EventSpec, Expressible, Flow, TimeUnit};
pub use usage::Usage;

use crate::{
    command::{CommandOutput, HandlerResult, bad_output, by_exit_code},
    event::{Event, EventKind, Raw},
    failure::{Cause, FailurePolicy, Fallback},
    glimpse::{self, Glimpse, Places},
    json::{DecodeError, Object, parse_object},
    matcher::MatchStyle,
    output::{HookOutput, Note},
};

/// A client's own names of a tool, and the names that Claude Code has for it.
pub type ToolNames = (&'static [&'static str], &'static [&'static str]);

/// A hook protocol. All methods are pure and total.
///
/// The default methods are those of the dialects whose outputs are JSON objects. All of them read the table of
/// [`Dialect::specs`].
pub trait Dialect: Send + Sync + 'static {
    /// The name in configurations, with the profile: `claude`, `claude@observed`.
    fn name(&self) -> &'static str;

    /// The event specs: one row per event that the specification names.
    fn specs(&self) -> &'static [EventSpec];

    /// The row for events that the specification does not name. Its `name` is a placeholder.
    fn other_spec(&self) -> &'static EventSpec;

    /// The order in which the hooks of one event run.
    fn flow(&self) -> Flow;

    /// The form of the `hooks` object in a configuration.
    fn shape(&self) -> ConfigShape;

    /// Returns true if a configuration with matcher groups may also have flat entries, as those of Copilot's own
    /// configurations are.
    fn takes_flat_entries(&self) -> bool {
        false
    }

    /// The syntax of matchers. `None`: the dialect has no matchers.
    fn match_style(&self) -> Option<MatchStyle>;

    /// Tools that have another name in Claude Code.
    fn tool_names(&self) -> &'static [ToolNames] {
        &[]
    }

    /// Returns the other names of a tool: those of Claude Code for the client's name, or the reverse. Matchers are
    /// compared with these names too.
    fn also_called(&self, tool: &str) -> &'static [&'static str] {
        let other = |(own, claudes): &ToolNames| {
            if own.contains(&tool) { Some(*claudes) } else { claudes.contains(&tool).then_some(*own) }
        };
        self.tool_names().iter().find_map(other).unwrap_or_default()
    }

    /// Signs that a payload comes from this dialect's client. A profile has the same signs as its dialect.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// The syntax of the matchers of one event, where it differs from [`Dialect::match_style`].
    fn match_style_of(&self, _spec: &EventSpec) -> Option<MatchStyle> {
        self.match_style()
    }

    /// The unit of a bare number in a hook's `timeout`.
    fn timeout_unit(&self) -> TimeUnit {
        TimeUnit::Seconds
    }

    /// Default timeout in seconds that the client gives a command hook. `None`: hookbox's own default.
    fn command_timeout(&self) -> Option<f64> {
        None
    }

    /// Maximum number of times in a row that hooks may keep an agent going, for a client without such a limit. `None`:
    /// the client has its own limit.
    fn stop_limit(&self) -> Option<u32> {
        None
    }

    /// The client's configuration, for warnings.
    fn usage(&self) -> Usage {
        Usage::default()
    }

    /// Time that the client waits for its hooks on an event of this row, unless its settings say otherwise.
    fn client_timeout(&self, _spec: &EventSpec) -> Duration {
        Duration::from_mins(1)
    }

    /// Kinds of the events that hooks observe but do not decide, where all of these events share one name.
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// Output fields that the contract knows, at any depth. A component cannot set them through `extra` (design: an
    /// `extra` "may never carry a field that the contract knows").
    fn known_keys(&self) -> &'static [&'static str];

    /// Decodes one event. `name` overrides the event name, for wires that do not carry it.
    ///
    /// # Errors
    /// [`DecodeError`], with the JSON pointer or the line and column.
    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError>;

    /// Places of the event name and the tool name on the wire, for [`Dialect::glimpse`].
    fn places(&self) -> &'static Places {
        &Places { name: &[&["hook_event_name"]], tool: &[&["tool_name"]] }
    }

    /// Returns the event name and the tool name of a text that [`Dialect::decode_event`] rejects. `None`: the name is
    /// missing, or the text has two different names.
    fn glimpse(&self, wire: &[u8], name: Option<&str>) -> Option<Glimpse> {
        let own = name.and_then(|_| glimpse::glimpse(self.places(), wire, None));
        // decisions.md#who-is-calling: "A name that contradicts the event's own makes the event unreadable": it could
        // be either.
        if let (Some(given), Some(own)) = (name, &own)
            && !self.is_one_event(given, &own.name)
        {
            return None;
        }
        glimpse::glimpse(self.places(), wire, name)
    }

    /// The row of an event that may be invalid. `None`: the event's name is unknown.
    fn glimpse_spec(&self, wire: &[u8], name: Option<&str>) -> Option<&'static EventSpec> {
        if let Ok(event) = self.decode_event(wire, name) {
            return Some(self.spec_of(&event));
        }
        let name = self.glimpse(wire, name)?.name;
        Some(self.spec_by_name(&name).unwrap_or(self.other_spec()))
    }

    /// Encodes an event, the inverse of [`Dialect::decode_event`]. An event that a library user made is written as the
    /// client would have sent it.
    fn encode_event(&self, event: &Event) -> Value;

    /// Decodes the output of a handler that speaks this dialect. The notes report invalid parts that were accepted all
    /// the same.
    ///
    /// # Errors
    /// [`DecodeError`]: the hook counts as failed.
    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError>;

    /// Reads the exit code and the output of a command that ran as a hook.
    ///
    /// # Errors
    /// [`crate::Failure`]: the command gave no valid output.
    fn read_command(&self, event: &Event, ended: &CommandOutput<'_>) -> HandlerResult {
        by_exit_code(ended, |stdout| self.read_stdout(event, stdout))
    }

    /// Decodes the stdout of a handler that speaks the dialect's JSON: one object, or nothing.
    ///
    /// # Errors
    /// [`Cause::BadOutput`]. decisions.md#outputs: "An output is exactly one JSON object without duplicate keys, with
    /// optional white space around it. Anything else is an invalid output: the handler has failed."
    fn read_stdout(&self, event: &Event, stdout: &[u8]) -> HandlerResult {
        let trimmed = stdout.trim_ascii();
        if trimmed.is_empty() {
            return Ok((HookOutput::default(), Vec::new()));
        }
        let plain = std::str::from_utf8(stdout).ok().filter(|_| !trimmed.starts_with(b"{"));
        if let Some(output) = plain.and_then(|text| self.decode_text(event, text)) {
            return Ok((output, Vec::new()));
        }
        let object = parse_object(stdout).map_err(|error| bad_output(&error))?;
        self.decode_output(event, &object).map_err(|error| bad_output(&error))
    }

    /// Reads output that is not a JSON object, for clients that accept plain text.
    fn decode_text(&self, _event: &Event, _text: &str) -> Option<HookOutput> {
        None
    }

    /// The stages of an event of this kind, in order. The hooks of a stage are those that are configured for
    /// [`Dialect::spec`]`(stage).name`; they get the event under that name. Later stages run only until a stage
    /// [decides](Dialect::decides).
    fn stages(&self, kind: EventKind) -> &'static [EventKind] {
        kind.alone()
    }

    /// Returns true if the outputs of a stage are final, so that later stages do not run. If they are not final and a
    /// stage follows, their decisions [fall back](Dialect::falls_back).
    fn decides(&self, _stage: EventKind, _answers: &[HookOutput]) -> bool {
        false
    }

    /// Returns true if [`HookOutput::fall_back`] removes the decisions of a stage that was not final before the merge.
    /// Otherwise they are merged with those of the later stages.
    fn falls_back(&self) -> bool {
        true
    }

    /// Returns true if this answer ends the event, so that no later hook runs.
    fn stops(&self, _event: &Event, _answer: &HookOutput) -> bool {
        false
    }

    /// Applies a hook's rewrite to the event for the next hook, where the dialect chains ([`Flow::Chained`]). It
    /// changes the typed fields and [`Event::raw`].
    fn rewrite(&self, _event: &mut Event, _answer: &HookOutput) {}

    /// Returns true if a hook can replace the tool that was called with another tool.
    fn rewrites_tool(&self, _kind: EventKind) -> bool {
        false
    }

    /// Returns true if the client gives [`HookOutput::system_message`] to the model. A system message then also needs
    /// the authority for context.
    fn message_is_context(&self) -> bool {
        false
    }

    /// Merges the outputs of all hooks, in configuration order. `event` is the one that the client sent, even where the
    /// dialect chains. [`crate::degrade`] has already reduced the outputs to what the event's row can express.
    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome;

    /// The event in the form that command handlers read.
    fn for_commands(&self, event: &Event) -> Raw {
        event.raw.clone()
    }

    /// Encodes the verdict. A JSON string is plain text and is written without quotes. `None`: write nothing, because
    /// the client takes no answer to this event, or would misread an empty one.
    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value>;

    /// The failure policy for this cause when the configuration has none.
    fn default_policy(&self, _kind: EventKind, _cause: Cause) -> FailurePolicy {
        FailurePolicy::Ignore
    }

    /// The fallback that blocks when the program that runs the hooks failed itself. `wire` is the part of the event
    /// that was read; `name` is its name where the wire does not carry it.
    fn fail_closed(&self, _wire: &[u8], _name: Option<&str>, _reason: &str) -> Fallback {
        Fallback::block(None)
    }

    /// The fallback that reports such a failure without blocking.
    fn fail_open(&self) -> Fallback {
        Fallback::report()
    }

    /// Returns true if the client reads stderr when stdout is empty. stderr must then stay empty too.
    fn reads_stderr(&self) -> bool {
        false
    }

    /// The row of an event kind.
    fn spec(&self, kind: EventKind) -> &'static EventSpec {
        self.specs().iter().find(|spec| spec.kind == kind).unwrap_or(self.other_spec())
    }

    /// The row of an event: by its name, or else by its kind.
    fn spec_of(&self, event: &Event) -> &'static EventSpec {
        let named = self.spec_by_name(&event.name).filter(|spec| spec.kind == event.kind());
        named.unwrap_or_else(|| self.spec(event.kind()))
    }

    /// Returns true if two names are the same or belong to the same event kind.
    fn is_one_event(&self, one: &str, other: &str) -> bool {
        let kind = |name| self.spec_by_name(name).map(|spec| spec.kind).filter(|kind| *kind != EventKind::OtherEvent);
        one == other || kind(one).is_some() && kind(one) == kind(other)
    }

    /// The row of the event with this wire name, if the specification names it.
    fn spec_by_name(&self, name: &str) -> Option<&'static EventSpec> {
        self.specs().iter().find(|spec| spec.name == name)
    }
}

/// The verdict of all hooks, before it is encoded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The merged output of all hooks.
    pub output: HookOutput,
    /// The sentence of `docs/spec` that decided, verbatim, as `PAGE#HEADING: SENTENCE`.
    pub clause: &'static str,
    /// Notes on parts that had no effect, with the index of the hook if a single hook caused the note.
    pub notes: Vec<(Option<usize>, Note)>,
}
