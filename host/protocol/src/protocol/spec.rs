//! The event specs of a dialect: a row for each event, with the outputs that it can express.

use crate::{
    event::kind::EventKind,
    output::{DecisionKind, Scope},
};

/// A row of a dialect's specification: one event, its fields and what outputs to it can express.
#[derive(Debug)]
pub struct EventSpec {
    /// The event's name on the wire.
    pub name: &'static str,
    /// The event kind in the contract.
    pub kind: EventKind,
    /// The field, by the contract's name, that matchers are compared with. `None`: matchers are ignored.
    pub matched: Option<&'static str>,
    /// True if a hook can block the event.
    pub blockable: bool,
    /// Wire fields that the event must have.
    pub required: &'static [&'static str],
    /// The event's own typed fields, besides those of `names`. Hooks get all other fields unchanged.
    pub fields: &'static [&'static str],
    /// Wire names that differ from the contract's, as (wire, contract) pairs.
    pub names: &'static [(&'static str, &'static str)],
    /// The parts of an output that the client understands for this event.
    pub expressible: Expressible,
}

/// The parts of an output that one event of one dialect can express. [`crate::degrade`] replaces all others with the
/// nearest safer thing.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // one per thing that can be said, not one state
pub struct Expressible {
    /// The decisions that the wire can express.
    pub decisions: &'static [DecisionKind],
    /// True if a hook can replace the data that the event carries.
    pub rewrite: bool,
    /// True if a hook can add text to the model's context.
    pub context: bool,
    /// True if a hook can show a warning to the user.
    pub system_message: bool,
    /// The scopes that a halt can have.
    pub halt: &'static [Scope],
    /// True if a hook can set environment variables of the session.
    pub env: bool,
}

/// The order in which the hooks of one event run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// In array order, one after another. Each hook sees the original event.
    Sequential,
    /// Concurrently, with this default limit. The outputs are merged in configuration order.
    Concurrent(usize),
    /// In array order, one after another. Each hook sees the rewrites of the hooks before it.
    Chained,
}

/// The unit of a bare number of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, fractions allowed.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// The form of the `hooks` object in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigShape {
    /// Event → matcher groups → handlers.
    Groups,
    /// Event → handlers.
    Flat,
    /// Name → handler, with `priority`, `observe`, `intercept`.
    Named,
}
