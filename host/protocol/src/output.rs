//! What one hook says, and what all of them together say: the same type, so that merging is folding.

use std::sync::LazyLock;

use serde_json::Value;

use crate::json::Object;

/// What a hook says about an event, in no dialect's words. The default says nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    /// The decision, when there is one.
    pub decision: Option<Decision>,
    /// Why. Belongs to [`HookOutput::decision`]; on a blocked stop it is what the agent is told.
    pub reason: Option<String>,
    /// The whole new value of what the event carries: a tool's input or output, a prompt (a JSON string), a model
    /// request or response. Which one follows from the event.
    pub updated: Option<Value>,
    /// How far the rewrite's authority reaches, where it is not all there is.
    pub rewrite_bounds: RewriteBounds,
    /// `PicoClaw`: another tool to run instead.
    pub updated_tool: Option<String>,
    /// Claude: permission updates that go with an `allow` of a permission request.
    pub updated_permissions: Option<Value>,
    /// A denied permission also ends the turn.
    pub interrupt: bool,
    /// Text for the model.
    pub context: Option<String>,
    /// A warning for the user.
    pub system_message: Option<String>,
    /// Text for the model on an event whose JSON has no field for it: only exit code 2 takes it there, by stderr. Where
    /// there is no exit code, [`HookOutput::system_message`] has it.
    pub feedback: Option<String>,
    /// Keep the hook's output out of the transcript.
    pub suppress_output: bool,
    /// Stop working.
    pub halt: Option<Halt>,
    /// Environment variables for the session.
    pub env: Object,
    /// Fields of the dialect's output this type does not know, kept as they came. Keys inside `hookSpecificOutput`
    /// stand under that key.
    pub extra: Object,
}

/// How a rewrite merges with what other hooks say: by default as the dialect's specification has it. Set by
/// [`crate::authority`], for [`crate::authority::merge`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RewriteBounds {
    /// It is a change: where it is as the event had it, it says nothing about what other hooks made of it.
    pub change: bool,
    /// Its hook may not `allow`, so no `allow` covers it.
    pub uncovered: bool,
}

/// A decision about an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Do it without asking.
    Allow,
    /// Ask the user.
    Ask,
    /// `claude@observed` only: leave it to the client, later.
    Defer,
    /// Do not do it. On stop events: keep going.
    Deny,
    /// Leave this call out.
    Skip,
    /// Do not run the tool, this is its result: an object with `for_llm`, `for_user`, `silent`, `is_error`.
    Respond(Value),
}

/// A [`Decision`] without what it carries, ordered from the most permissive to the strictest. This is the only place
/// with that order: `defer` stands above `ask` because `claude@observed` has it so (`deny > defer > ask > allow`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecisionKind {
    /// [`Decision::Allow`]
    Allow,
    /// [`Decision::Ask`]
    Ask,
    /// [`Decision::Defer`]
    Defer,
    /// [`Decision::Skip`]
    Skip,
    /// [`Decision::Respond`]
    Respond,
    /// [`Decision::Deny`]
    Deny,
}

impl DecisionKind {
    /// All of them, the most permissive first.
    pub const ALL: [Self; 6] = [Self::Allow, Self::Ask, Self::Defer, Self::Skip, Self::Respond, Self::Deny];

    /// The field's word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Defer => "defer",
            Self::Ask => "ask",
            Self::Skip => "skip",
            Self::Respond => "respond",
            Self::Deny => "deny",
        }
    }
}

impl Decision {
    /// Which rule this is.
    pub const fn kind(&self) -> DecisionKind {
        match self {
            Self::Allow => DecisionKind::Allow,
            Self::Ask => DecisionKind::Ask,
            Self::Defer => DecisionKind::Defer,
            Self::Deny => DecisionKind::Deny,
            Self::Skip => DecisionKind::Skip,
            Self::Respond(_) => DecisionKind::Respond,
        }
    }
}

/// Stop working, whatever the other hooks say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// How far it reaches.
    pub scope: Scope,
    /// Shown to the user.
    pub reason: Option<String>,
}

/// How far a [`Halt`] reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The turn ends.
    Turn,
    /// The session or agent loop ends.
    Session,
}

/// Something people should know about how a verdict came to be. Never part of the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What happened.
    pub kind: NoteKind,
    /// In words.
    pub text: String,
    /// The output is not the dialect's: where failures block, its hook has failed.
    pub misfit: bool,
}

/// What a [`Note`] tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Part of an output had no effect.
    Dropped,
    /// The dialect cannot say it; the nearest safer thing was said.
    Degraded,
    /// The event or the answer was accepted, but is not as the specification wants it.
    Warning,
    /// The output is not the dialect's, and says nothing either: it is reported only where failures block, as a failure.
    Misfit,
}

impl Note {
    /// [`NoteKind::Dropped`]
    pub fn dropped(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Dropped, text: text.into(), misfit: false }
    }
    /// [`NoteKind::Degraded`]
    pub fn degraded(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Degraded, text: text.into(), misfit: false }
    }
    /// [`NoteKind::Warning`]
    pub fn warning(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Warning, text: text.into(), misfit: false }
    }

    /// [`NoteKind::Misfit`]
    pub fn misfit(text: impl Into<String>) -> Self {
        Self { kind: NoteKind::Misfit, text: text.into(), misfit: true }
    }

    /// The same note, of an output that is not the dialect's.
    #[must_use]
    pub fn of_misfit(self) -> Self {
        Self { misfit: true, ..self }
    }
}

impl NoteKind {
    /// One word for diagnostics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Degraded => "degraded",
            Self::Warning => "warning",
            Self::Misfit => "misfit",
        }
    }
}

impl HookOutput {
    /// Returns true if it says nothing at all.
    pub fn is_silent(&self) -> bool {
        static SILENT: LazyLock<HookOutput> = LazyLock::new(HookOutput::default);
        *self == *SILENT
    }

    /// Takes fields the contract knows out of [`HookOutput::extra`], so that nothing is decided past it. `known` is
    /// [`crate::Dialect::known_keys`].
    pub fn strip_known(&mut self, known: &[&str]) -> Vec<Note> {
        let mut notes = Vec::new();
        strip(&mut self.extra, known, &mut notes);
        notes
    }

    /// Takes the decision out, because the hooks of a later stage are to decide (see [`crate::Dialect::decides`]).
    pub fn fall_back(&mut self) -> Option<Note> {
        let decision = self.decision.take()?;
        (self.reason, self.updated, self.interrupt) = (None, None, false);
        self.rewrite_bounds = RewriteBounds::default();
        Some(Note::dropped(format!("{} falls back to the hooks that are asked next", decision.kind().word())))
    }

    /// An output that is only a decision.
    pub fn decided(decision: Decision, reason: impl Into<String>) -> Self {
        Self { decision: Some(decision), reason: Some(reason.into()), ..Self::default() }
    }

    /// The answer in one word: its rule's, `stop` when it halts, `nothing` when it says nothing, `none` when it only adds
    /// something.
    pub fn word(&self) -> &'static str {
        match (&self.decision, &self.halt) {
            (_, Some(_)) => "stop",
            (Some(decision), None) => decision.kind().word(),
            (None, None) if self.is_silent() => "nothing",
            (None, None) => "none",
        }
    }

    /// Returns true if it keeps something from going on as it would have: it stops, asks, or rewrites what it does not allow.
    pub fn restricts(&self) -> bool {
        let rewrites = self.updated.is_some() && self.decision_kind() != Some(DecisionKind::Allow);
        self.halt.is_some() || self.decision_kind() >= Some(DecisionKind::Ask) || rewrites
    }

    /// Which rule, if any.
    pub fn decision_kind(&self) -> Option<DecisionKind> {
        self.decision.as_ref().map(Decision::kind)
    }
}

/// Returns true if two keys are one to some reader: Go's, for example, takes a key in any case, with Unicode's folding.
pub(crate) fn same_key(one: &str, other: &str) -> bool {
    fn folded(key: &str) -> impl Iterator<Item = char> {
        // Upper case first: U+017F and the like become ASCII only that way. The dot is what is left of U+0130.
        key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).filter(|c| *c != '\u{307}')
    }
    one == other || folded(one).eq(folded(other))
}

/// Returns true if a field that nobody took may be passed on.
pub(crate) fn is_unknown(key: &str, known: &[&str]) -> bool {
    /// Where other known fields stand, so it is kept, in this spelling.
    const PLACE: &str = "hookSpecificOutput";
    (key == PLACE || !same_key(key, PLACE)) && !known.iter().any(|known| same_key(key, known))
}

fn strip(object: &mut Object, known: &[&str], notes: &mut Vec<Note>) {
    object.retain(|key, value| {
        let keep = is_unknown(key, known);
        if keep {
            strip_value(value, known, notes);
        } else {
            let note = Note::dropped(format!("extra may not carry `{key}`, which the contract knows"));
            // Once for each key, however often it stands there.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        keep
    });
}

fn strip_value(value: &mut Value, known: &[&str], notes: &mut Vec<Note>) {
    match value {
        Value::Object(inner) => strip(inner, known, notes),
        Value::Array(items) => items.iter_mut().for_each(|item| strip_value(item, known, notes)),
        _ => {}
    }
}

/// The text of a [`Decision::Respond`]'s result, for where the result itself cannot be given.
pub(crate) fn respond_text(result: &Value) -> String {
    result.get("for_llm").and_then(Value::as_str).map_or_else(|| result.to_string(), str::to_owned)
}

/// Joins texts with one newline in the given order; nothing in, nothing out.
///
/// decisions.md#outputs: "Joined texts are joined with one newline, in configuration order."
pub fn join<'a>(texts: impl IntoIterator<Item = &'a Option<String>>) -> Option<String> {
    let texts: Vec<&str> = texts.into_iter().filter_map(|t| t.as_deref()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
