//! The answers, and the events that support them.
//!
//! Each trait stands for one function of the [`prelude`](crate::prelude). The events that support the answer implement
//! the trait. For any other event the function does not compile.

use crate::event::pre_tool_use::Response;
use crate::output::{BlockDecision, Decides, PermissionDecision};
use crate::{Json, Output};

/// No decision: the client continues as if there were no hook.
pub fn pass<E: Decides>() -> Output<E> {
    Output::pass()
}

/// Lets the tool run without asking the user. A third-party hook needs the authority for it.
pub fn allow<E: Permits>() -> Output<E> {
    Output::allow()
}

/// Asks the user.
pub fn ask<E: Permits>(reason: impl Into<String>) -> Output<E> {
    Output::ask(reason)
}

/// Stops the tool. The model gets the reason.
pub fn deny<E: Permits>(reason: impl Into<String>) -> Output<E> {
    Output::deny(reason)
}

/// Blocks the event. On `Stop` and `SubagentStop` this means "keep going", and the agent gets the reason.
pub fn block<E: Blocks>(reason: impl Into<String>) -> Output<E> {
    Output::block(reason)
}

/// Skips this tool call and continues. It is a deny if the client cannot skip.
pub fn skip<E: Skips>(reason: impl Into<String>) -> Output<E> {
    Output::skip(reason)
}

/// Skips the tool and returns this result in its place: a text, or a [`Response`]. It is a deny with the text if the
/// client does not support it.
pub fn respond<E: Responds>(response: impl Into<Response>) -> Output<E> {
    Output::respond(response)
}

/// An event that supports `allow`, `ask` and `deny`.
#[diagnostic::on_unimplemented(
    message = "`allow`, `ask` and `deny` do not answer `{Self}`",
    note = "they answer `PreToolUse`, `PermissionRequest` and `CanUseTool`",
    note = "prompts, tool results, stops, compactions and tasks take `block`; every event takes `pass`"
)]
pub trait Permits: Decides {
    #[doc(hidden)]
    fn permit(permission: PermissionDecision) -> Self::Body;
    #[doc(hidden)]
    fn explain(body: &mut Self::Body, reason: Option<String>);
}

/// An event that supports `block`.
#[diagnostic::on_unimplemented(
    message = "`block` does not answer `{Self}`",
    note = "it answers `UserPromptSubmit`, `PostToolUse`, `Stop`, `SubagentStop`, `PreCompact` and `TaskCompleted`",
    note = "a tool or a permission takes `deny`; any event can `end_turn` or `end_session`"
)]
pub trait Blocks: Decides {
    #[doc(hidden)]
    fn gate(gate: BlockDecision) -> Self::Body;
}

/// An event that supports `skip`.
#[diagnostic::on_unimplemented(
    message = "`skip` does not answer `{Self}`",
    note = "only a tool that is about to run can be skipped: it answers `PreToolUse`"
)]
pub trait Skips: Decides {
    #[doc(hidden)]
    fn skip(reason: Option<String>) -> Self::Body;
}

/// An event that supports `respond`.
#[diagnostic::on_unimplemented(
    message = "`respond` does not answer `{Self}`",
    note = "only a tool that is about to run can be given a result: it answers `PreToolUse`"
)]
pub trait Responds: Decides {
    #[doc(hidden)]
    fn respond(response: Response) -> Self::Body;
}

/// An event that supports `.rewrite(…)`.
#[diagnostic::on_unimplemented(
    message = "`rewrite` has nothing to replace in `{Self}`",
    note = "it replaces a tool's input (`PreToolUse`, `PermissionRequest`, `CanUseTool`) or output (`PostToolUse`), a prompt \
            (`UserPromptSubmit`), a model's request (`BeforeLlm`) or response (`AfterLlm`)"
)]
pub trait Rewrites: Decides {
    /// Type of the new value: text for a prompt, and JSON for everything else.
    type Value;
    #[doc(hidden)]
    fn rewrite(body: &mut Self::Body, value: Self::Value);
}

/// An event that supports `.interrupt()`.
#[diagnostic::on_unimplemented(
    message = "`interrupt` is not for `{Self}`",
    note = "it goes with the `deny` of a `PermissionRequest` or `CanUseTool`; any event can `end_turn`"
)]
pub trait Interrupts: Decides {
    #[doc(hidden)]
    fn interrupt(body: &mut Self::Body);
}

/// An event that supports `.tool(…)`.
#[diagnostic::on_unimplemented(message = "`tool` is not for `{Self}`", note = "only `PreToolUse` can run another tool")]
pub trait Reroutes: Decides {
    #[doc(hidden)]
    fn reroute(body: &mut Self::Body, tool: String);
}

/// An event that supports `.permissions(…)`.
#[diagnostic::on_unimplemented(
    message = "`permissions` is not for `{Self}`",
    note = "it goes with the `allow` of a `PermissionRequest`"
)]
pub trait UpdatesPermissions: Decides {
    #[doc(hidden)]
    fn update_permissions(body: &mut Self::Body, updates: Json);
}

/// An event that supports `.env(…)`.
#[diagnostic::on_unimplemented(
    message = "`env` is not for `{Self}`",
    note = "a session's environment is set when it begins: it goes with `SessionStart`"
)]
pub trait Env: Decides {
    #[doc(hidden)]
    fn set(body: &mut Self::Body, name: String, value: String);
}
