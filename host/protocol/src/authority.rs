//! What a hook may decide, whatever it says.

use crate::{
    answer::{Answer, Note},
    event::Event,
};

/// One power over an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Deny, or block.
    Deny,
    /// Ask the user.
    Ask,
    /// Allow without asking the user.
    Allow,
    /// Leave the call out.
    Skip,
    /// Give the tool's result.
    Respond,
    /// End the turn or the session.
    Abort,
}

/// Which parts of a tool's input, its output, a prompt or a model request a hook may rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// Everything.
    All,
    /// What these JSON pointers point at, and what is below. None of them: nothing.
    Only(Vec<String>),
}

/// What a hook may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// The decisions it may make.
    pub decide: Vec<Power>,
    /// What it may rewrite.
    pub rewrite: Rewrite,
    /// Whether it may add to the model's context (and set session environment variables).
    pub context: bool,
    /// Whether it may show the user a message.
    pub system_message: bool,
}

impl Authority {
    /// Deny, ask and context: the default for anything that is not local.
    pub fn gate() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask],
            rewrite: Rewrite::Only(Vec::new()),
            context: true,
            system_message: false,
        }
    }

    /// What a gate may, and rewrite everything, with the `allow` a rewrite needs.
    pub fn rewriter() -> Self {
        Self { decide: vec![Power::Deny, Power::Ask, Power::Allow], rewrite: Rewrite::All, ..Self::gate() }
    }

    /// Everything.
    pub fn trusted() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask, Power::Allow, Power::Skip, Power::Respond, Power::Abort],
            rewrite: Rewrite::All,
            context: true,
            system_message: true,
        }
    }

    /// Takes out of an answer what exceeds this authority, towards safety, and tells what it took.
    pub fn limit(&self, _event: &Event, _answer: &mut Answer) -> Vec<Note> {
        Vec::new()
    }
}
