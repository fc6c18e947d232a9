//! Outputs of hooks.

use std::fmt;

use crate::bindings::shared::hookbox::hooks::types as wit;
use crate::event::pre_tool_use::Response;
use crate::verb::{Blocks, Env, Interrupts, Permits, Reroutes, Responds, Rewrites, Skips, UpdatesPermissions};
use crate::{Json, ToolCall};

pub use wit::{BlockDecision, Denial, Halt, PermissionDecision, Scope};

/// An event that has an output.
#[diagnostic::on_unimplemented(message = "nothing can be decided about `{Self}`")]
pub trait Decides {
    /// The event's own part of the output, in addition to the effects that every event has.
    type Body: Clone + fmt::Debug + Default + PartialEq;
}

/// The output of a hook for an event `E`; without `E`, for a tool that is about to run.
///
/// [`pass`](crate::pass), [`deny`](crate::deny) and similar functions create it, and the methods here refine it. The
/// compiler checks which of them an event supports.
///
/// ```
/// use hookbox_guest::prelude::*;
///
/// fn decide(call: &ToolCall) -> Result<Output> {
///     Ok(allow().rewrite(call.input.with("/timeout", 60)?).context("The timeout was raised to a minute."))
/// }
/// ```
pub struct Output<E: Decides = ToolCall> {
    /// The event's own part of the output.
    pub body: E::Body,
    /// The effects that every event has.
    pub effects: Effects,
}

/// The part of an output that every event has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Text added to the model's context. claude, blade: `additionalContext`; blade prompts: `contextInjection`.
    pub context: Option<String>,
    /// claude, codebuddy, blade: `systemMessage`, a warning for the user.
    pub system_message: Option<String>,
    /// claude, codebuddy, blade: `suppressOutput`, keep this hook's output out of the transcript.
    pub suppress_output: bool,
    /// End the turn or the session.
    pub halt: Option<Halt>,
    /// An object merged into the dialect's output, for fields that hookbox does not know.
    pub extra: Option<Json>,
}

impl<E: Decides> Output<E> {
    /// Adds text to the model's context; a second text starts a new line.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        add_line(&mut self.effects.context, text.into());
        self
    }

    /// Warns the user; a second text starts a new line.
    #[must_use]
    pub fn system_message(mut self, text: impl Into<String>) -> Self {
        add_line(&mut self.effects.system_message, text.into());
        self
    }

    /// Keeps this hook's output out of the transcript.
    #[must_use]
    pub fn suppress_output(mut self) -> Self {
        self.effects.suppress_output = true;
        self
    }

    /// Ends the turn, regardless of other hooks. The reason is shown to the user.
    #[must_use]
    pub fn end_turn(mut self, reason: impl Into<String>) -> Self {
        self.effects.halt = Some(Halt { scope: Scope::Turn, reason: text(reason) });
        self
    }

    /// Ends the session, regardless of other hooks. The reason is shown to the user.
    #[must_use]
    pub fn end_session(mut self, reason: impl Into<String>) -> Self {
        self.effects.halt = Some(Halt { scope: Scope::Session, reason: text(reason) });
        self
    }

    /// Adds an object that is merged into the dialect's output, for fields that hookbox does not know. The host drops
    /// and reports keys that it knows.
    #[must_use]
    pub fn extra(mut self, object: impl Into<Json>) -> Self {
        self.effects.extra = Some(object.into());
        self
    }

    /// Replaces the whole value that the event carries: a tool's input or output, a prompt, a model's request or
    /// response. [`Json::with`] changes one value and keeps the rest.
    #[must_use]
    pub fn rewrite(mut self, value: impl Into<E::Value>) -> Self
    where
        E: Rewrites,
    {
        E::rewrite(&mut self.body, value.into());
        self
    }

    /// Sets the reason of a decision that takes none as an argument: `allow().reason("read-only")`. No effect on a
    /// `pass`.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self
    where
        E: Permits,
    {
        E::explain(&mut self.body, text(reason));
        self
    }

    /// Makes a `deny` also end the turn. claude, blade-callback. No effect on other decisions.
    #[must_use]
    pub fn interrupt(mut self) -> Self
    where
        E: Interrupts,
    {
        E::interrupt(&mut self.body);
        self
    }

    /// Runs another tool instead. picoclaw.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self
    where
        E: Reroutes,
    {
        E::reroute(&mut self.body, name.into());
        self
    }

    /// Sets an array of permission updates to apply with an `allow`. claude.
    #[must_use]
    pub fn permissions(mut self, updates: impl Into<Json>) -> Self
    where
        E: UpdatesPermissions,
    {
        E::update_permissions(&mut self.body, updates.into());
        self
    }

    /// Sets an environment variable for the whole session. blade.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self
    where
        E: Env,
    {
        E::set(&mut self.body, name.into(), value.into());
        self
    }

    /// Returns an output without a decision. Use it where the compiler cannot infer the event of [`pass`](crate::pass).
    pub fn pass() -> Self {
        Self::new(E::Body::default())
    }

    /// See [`allow`](crate::allow).
    pub fn allow() -> Self
    where
        E: Permits,
    {
        Self::new(E::permit(PermissionDecision::Allow(None)))
    }

    /// See [`ask`](crate::ask).
    pub fn ask(reason: impl Into<String>) -> Self
    where
        E: Permits,
    {
        Self::new(E::permit(PermissionDecision::Ask(text(reason))))
    }

    /// See [`deny`](crate::deny).
    pub fn deny(reason: impl Into<String>) -> Self
    where
        E: Permits,
    {
        Self::new(E::permit(PermissionDecision::Deny(Denial { message: text(reason), interrupt: false })))
    }

    /// See [`block`](crate::block).
    pub fn block(reason: impl Into<String>) -> Self
    where
        E: Blocks,
    {
        Self::new(E::gate(BlockDecision::Block(text(reason))))
    }

    /// See [`skip`](crate::skip).
    pub fn skip(reason: impl Into<String>) -> Self
    where
        E: Skips,
    {
        Self::new(E::skip(text(reason)))
    }

    /// See [`respond`](crate::respond).
    pub fn respond(response: impl Into<Response>) -> Self
    where
        E: Responds,
    {
        Self::new(E::respond(response.into()))
    }

    fn new(body: E::Body) -> Self {
        Self { body, effects: Effects::default() }
    }
}

/// Converts a reason. An empty text becomes `None`.
pub(crate) fn text(reason: impl Into<String>) -> Option<String> {
    Some(reason.into()).filter(|reason| !reason.is_empty())
}

fn add_line(text: &mut Option<String>, line: String) {
    match text {
        Some(text) => {
            text.push('\n');
            text.push_str(&line);
        }
        None => *text = Some(line),
    }
}

// Implemented by hand, because deriving would require the trait for `E`, which is not part of the value.

impl<E: Decides> Clone for Output<E> {
    fn clone(&self) -> Self {
        Self { body: self.body.clone(), effects: self.effects.clone() }
    }
}

impl<E: Decides> fmt::Debug for Output<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("body", &self.body).field("effects", &self.effects).finish()
    }
}

/// [`pass`](crate::pass).
impl<E: Decides> Default for Output<E> {
    fn default() -> Self {
        Self::pass()
    }
}

impl<E: Decides> PartialEq for Output<E> {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.effects == other.effects
    }
}

impl From<Effects> for wit::Effects {
    fn from(effects: Effects) -> Self {
        let Effects { context, system_message, suppress_output, halt, extra } = effects;
        Self { context, system_message, suppress_output, halt, extra: extra.map(Json::into_text) }
    }
}

/// [`BlockDecision::Pass`].
impl Default for BlockDecision {
    fn default() -> Self {
        Self::Pass
    }
}

/// [`PermissionDecision::Pass`].
impl Default for PermissionDecision {
    fn default() -> Self {
        Self::Pass
    }
}
