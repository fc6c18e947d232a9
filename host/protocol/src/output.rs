//! The output of one hook, and the merged output of all hooks. Both have the same type, so that merging is a fold.

mod note;

use std::sync::LazyLock;

use serde_json::Value;

pub use note::{Note, NoteKind};

use crate::json::Object;

/// The output of a hook, independent of dialects. The default is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    /// The decision, if there is one.
    pub decision: Option<Decision>,
    /// The reason for [`HookOutput::decision`]. On a blocked stop, the agent gets it as its next instruction.
    pub reason: Option<String>,
    /// The complete new value of the event's data: a tool's input or output, a prompt (a JSON string), a model request
    /// or a model response. The event kind determines which one it is.
    pub updated: Option<Value>,
    /// Limits of the rewrite, if the hook has less than full authority.
    pub rewrite_bounds: RewriteBounds,
    /// picoclaw: the tool that runs instead.
    pub updated_tool: Option<String>,
    /// claude: permission updates that come with the `allow` of a permission request.
    pub updated_permissions: Option<Value>,
    /// True if a denied permission also ends the turn.
    pub interrupt: bool,
    /// Text for the model.
    pub context: Option<String>,
    /// A warning for the user.
    pub system_message: Option<String>,
    /// Text for the model on an event whose JSON has no field for it. The client accepts such text only on stderr with
    /// exit code 2. Without an exit code, it goes to [`HookOutput::system_message`].
    pub feedback: Option<String>,
    /// True if the hook's output stays out of the transcript.
    pub suppress_output: bool,
    /// The request to end the turn or the session.
    pub halt: Option<Halt>,
    /// Environment variables for the session.
    pub env: Object,
    /// Unknown fields of the dialect's output, unchanged. Fields of `hookSpecificOutput` are under that key.
    pub extra: Object,
}

/// Rules for merging a rewrite with the outputs of other hooks. The default is the dialect's specification.
/// [`crate::authority`] sets them, for [`crate::authority::merge`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RewriteBounds {
    /// True if the rewrite is a change: it leaves alone the parts that are equal to the event's.
    pub change: bool,
    /// True if the hook may not `allow`, so that no `allow` covers its rewrite.
    pub uncovered: bool,
}

/// A decision about an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Continue without asking.
    Allow,
    /// Ask the user.
    Ask,
    /// `claude@observed` only: let the client decide later.
    Defer,
    /// Block the event. On stop events: the agent continues.
    Deny,
    /// Leave out this call.
    Skip,
    /// Do not run the tool; use this result. An object with `for_llm`, `for_user`, `silent`, `is_error`.
    Respond(Value),
}

/// A [`Decision`] without its data, ordered from the most permissive to the strictest. No other code has this order.
/// `defer` is above `ask` because of `claude@observed` (`deny > defer > ask > allow`).
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
    /// All kinds, from the most permissive to the strictest.
    pub const ALL: [Self; 6] = [Self::Allow, Self::Ask, Self::Defer, Self::Skip, Self::Respond, Self::Deny];

    /// The word for the decision on the wire and in messages.
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
    /// The kind of the decision.
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

/// A request to stop working. It overrides the outputs of the other hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// The scope that ends.
    pub scope: Scope,
    /// The reason that the user sees.
    pub reason: Option<String>,
}

/// Scope of a [`Halt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The turn ends.
    Turn,
    /// The session or agent loop ends.
    Session,
}

impl HookOutput {
    /// Returns true if the output is empty.
    pub fn is_silent(&self) -> bool {
        static SILENT: LazyLock<HookOutput> = LazyLock::new(HookOutput::default);
        *self == *SILENT
    }

    /// Removes the fields that the contract knows from [`HookOutput::extra`], so that a hook cannot decide through
    /// them. `known` is [`crate::Dialect::known_keys`].
    pub fn strip_known(&mut self, known: &[&str]) -> Vec<Note> {
        let mut notes = Vec::new();
        strip(&mut self.extra, known, &mut notes);
        notes
    }

    /// Removes the decision, because the hooks of a later stage decide (see [`crate::Dialect::decides`]).
    pub fn fall_back(&mut self) -> Option<Note> {
        let decision = self.decision.take()?;
        (self.reason, self.updated, self.interrupt) = (None, None, false);
        self.rewrite_bounds = RewriteBounds::default();
        Some(Note::dropped(format!("{} falls back to the hooks of the next stage", decision.kind().word())))
    }

    /// Makes an output that has only a decision and its reason.
    pub fn decided(decision: Decision, reason: impl Into<String>) -> Self {
        Self { decision: Some(decision), reason: Some(reason.into()), ..Self::default() }
    }

    /// The output in one word: its decision, `stop` for a halt, `nothing` for an empty output, or `none` if it has no
    /// decision.
    pub fn word(&self) -> &'static str {
        match (&self.decision, &self.halt) {
            (_, Some(_)) => "stop",
            (Some(decision), None) => decision.kind().word(),
            (None, None) if self.is_silent() => "nothing",
            (None, None) => "none",
        }
    }

    /// Returns true if the output restricts the event: it stops, asks, denies, or rewrites without an `allow`.
    pub fn restricts(&self) -> bool {
        let rewrites = self.updated.is_some() && self.decision_kind() != Some(DecisionKind::Allow);
        self.halt.is_some() || self.decision_kind() >= Some(DecisionKind::Ask) || rewrites
    }

    /// The kind of the decision, if there is one.
    pub fn decision_kind(&self) -> Option<DecisionKind> {
        self.decision.as_ref().map(Decision::kind)
    }
}

/// Returns true if some reader takes two keys as the same. Go, for example, ignores case and applies Unicode folding.
pub(crate) fn same_key(one: &str, other: &str) -> bool {
    fn folded(key: &str) -> impl Iterator<Item = char> {
        // Upper case comes first, because only that turns characters such as U+017F into ASCII. U+0130 leaves a dot,
        // which is ignored.
        key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).filter(|c| *c != '\u{307}')
    }
    one == other || folded(one).eq(folded(other))
}

/// Keys that carry a decision in some dialect.
pub(crate) const DECIDING: [&str; 5] = ["action", "approved", "behavior", "decision", "permissionDecision"];

/// Returns true if a key carries a decision in some dialect, in any spelling: `PermissionDecision`, `permission_decision`.
pub fn is_deciding(key: &str) -> bool {
    let plain = key.replace(['_', '-'], "");
    DECIDING.into_iter().any(|known| same_key(&plain, known))
}

/// Returns true if an unused field may be passed on.
pub(crate) fn is_unknown(key: &str, known: &[&str]) -> bool {
    /// A container of other known fields. It is kept in this spelling.
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
            // One note per key, even if the key occurs several times.
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

/// Returns the text of a [`Decision::Respond`]'s result, for places that cannot take the result itself.
pub(crate) fn respond_text(result: &Value) -> String {
    result.get("for_llm").and_then(Value::as_str).map_or_else(|| result.to_string(), str::to_owned)
}

/// Joins texts with one newline, in the given order. Returns `None` if there is no text.
///
/// decisions.md#outputs: "Joined texts are joined with one newline, in configuration order."
pub fn join<'a>(texts: impl IntoIterator<Item = &'a Option<String>>) -> Option<String> {
    let texts: Vec<&str> = texts.into_iter().filter_map(|t| t.as_deref()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
