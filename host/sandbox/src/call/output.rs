//! Conversion of a component's decision into an output, with the limits and rules that all events share.

use hookbox_protocol::{
    Cause, Decision, Dialect, Event, Failure, Halt, HookOutput, Note, Scope,
    json::{self, Object},
};
use serde_json::Value;

use crate::bindings::hookbox::hooks::types::{self as wit, BlockDecision, Effects, Fault, PermissionDecision};

/// Reads one decision of a component.
pub(crate) struct Reader<'a> {
    event: &'a Event,
    dialect: &'a dyn Dialect,
    limit: usize,
    left: usize,
    notes: Vec<Note>,
}

impl<'a> Reader<'a> {
    /// Creates a reader for an output of at most `limit` bytes.
    pub(crate) fn new(event: &'a Event, dialect: &'a dyn Dialect, limit: usize) -> Self {
        Self { event, dialect, limit, left: limit, notes: Vec::new() }
    }

    pub(crate) fn dialect(&self) -> &'a dyn Dialect {
        self.dialect
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    /// Failure for an event that the component does not handle.
    pub(crate) fn other_event(&self) -> Failure {
        Failure::new(Cause::Load, format!("does not handle {}", self.event.kind().name()))
    }

    /// types.wit: "The hook could not decide. The host treats this as a failure of the hook, never as an output." The
    /// message counts towards the limit of an output.
    pub(crate) fn fault(&mut self, fault: Fault) -> Failure {
        let (Fault::BadInput(message) | Fault::Failed(message)) = fault;
        self.text(message).map_or_else(|too_large| too_large, |message| Failure::new(Cause::Guest, message))
    }

    /// Counts a text towards the limit.
    pub(crate) fn text(&mut self, text: String) -> Result<String, Failure> {
        self.left = self.left.checked_sub(text.len()).ok_or_else(|| {
            Failure::new(Cause::OutputTooLarge, format!("returned more than the limit of {} KiB", self.limit >> 10))
        })?;
        Ok(text)
    }

    pub(crate) fn optional(&mut self, text: Option<String>) -> Result<Option<String>, Failure> {
        text.map(|text| self.text(text)).transpose()
    }

    /// types.wit: "A JSON text. The host only passes valid JSON; invalid JSON from a hook is a failure of that hook."
    pub(crate) fn json(&mut self, field: &str, text: Option<String>) -> Result<Option<Value>, Failure> {
        let Some(text) = self.optional(text)? else { return Ok(None) };
        let value = json::parse(text.as_bytes()).map_err(|e| bad(field, e))?;
        Ok(Some(value))
    }

    pub(crate) fn object(&mut self, field: &str, text: Option<String>) -> Result<Option<Object>, Failure> {
        match self.json(field, text)? {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(bad(field, format!("expected an object, found {}", json::describe(&other)))),
        }
    }

    /// Reads the effects that every decision has, as an output without a decision.
    pub(crate) fn effects(&mut self, effects: Effects) -> Result<Box<HookOutput>, Failure> {
        let Effects { context, system_message, suppress_output, halt, extra } = effects;
        let halt = match halt {
            None => None,
            Some(wit::Halt { scope, reason }) => {
                let scope = match scope {
                    wit::Scope::Turn => Scope::Turn,
                    wit::Scope::Session => Scope::Session,
                };
                Some(Halt { scope, reason: self.optional(reason)? })
            }
        };
        let mut output = Box::new(HookOutput {
            context: self.optional(context)?,
            system_message: self.optional(system_message)?,
            suppress_output,
            halt,
            extra: self.object("extra", extra)?.unwrap_or_default(),
            ..HookOutput::default()
        });
        // types.wit: "A key that the contract has is dropped and reported."
        self.notes.extend(output.strip_known(self.dialect.known_keys()));
        Ok(output)
    }

    /// Reads `effects` together with a block decision.
    pub(crate) fn gate(&mut self, gate: BlockDecision, effects: Effects) -> Result<Box<HookOutput>, Failure> {
        let mut output = self.effects(effects)?;
        if let BlockDecision::Block(reason) = gate {
            (output.decision, output.reason) = (Some(Decision::Deny), self.optional(reason)?);
        }
        Ok(output)
    }

    /// Reads `effects` together with a permission decision.
    pub(crate) fn permission(
        &mut self,
        permission: PermissionDecision,
        effects: Effects,
    ) -> Result<Box<HookOutput>, Failure> {
        let mut output = self.effects(effects)?;
        let (decision, reason, interrupt) = match permission {
            PermissionDecision::Pass => return Ok(output),
            PermissionDecision::Allow(reason) => (Decision::Allow, reason, false),
            PermissionDecision::Ask(reason) => (Decision::Ask, reason, false),
            PermissionDecision::Deny(wit::Denial { message, interrupt }) => (Decision::Deny, message, interrupt),
        };
        (output.decision, output.reason) = (Some(decision), self.optional(reason)?);
        output.interrupt = interrupt;
        Ok(output)
    }

    /// Reads an output object that uses the dialect's own fields.
    pub(crate) fn dialect_output(&mut self, output: Option<String>) -> Result<Box<HookOutput>, Failure> {
        let Some(object) = self.object("output", output)? else { return Ok(Box::default()) };
        let (output, notes) = self.dialect.decode_output(self.event, &object).map_err(|e| bad("output", e))?;
        self.notes.extend(notes);
        Ok(Box::new(output))
    }
}

/// Adds the members of `whole` that `updated` leaves out.
pub(crate) fn completed<'a>(
    updated: Option<Object>,
    whole: impl IntoIterator<Item = (impl Into<String>, &'a Value)>,
) -> Option<Value> {
    let mut updated = updated?;
    for (key, value) in whole {
        updated.entry(key.into()).or_insert_with(|| value.clone());
    }
    Some(Value::Object(updated))
}

fn bad(field: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(Cause::BadOutput, format!("`{field}`: {why}"))
}
