//! Which event takes which answer.
//!
//! Each trait stands behind one word of the [`prelude`](crate::prelude); the events that implement it are those where
//! the word makes sense. Anywhere else the word does not compile.

use crate::event::pre_tool_use::Response;
use crate::output::{BlockDecision, Decides, PermissionDecision};
use crate::{Json, Output};

/// Nothing to say: the client goes on as if there were no hook.
pub fn pass<E: Decides>() -> Output<E> {
    Output::pass()
}

/// Let the tool run without asking the user. A third-party hook needs the authority for it.
pub fn allow<E: Permits>() -> Output<E> {
    Output::allow()
}

/// Ask the user.
pub fn ask<E: Permits>(reason: impl Into<String>) -> Output<E> {
    Output::ask(reason)
}

/// Do not let the tool run. The reason is what the model is told.
pub fn deny<E: Permits>(reason: impl Into<String>) -> Output<E> {
    Output::deny(reason)
}

/// Do not let it happen. On `Stop` and `SubagentStop` this means "keep going"; the reason is what the agent is told.
pub fn block<E: Blocks>(reason: impl Into<String>) -> Output<E> {
    Output::block(reason)
}

/// Leave this tool call out and go on. Where a client cannot skip, it is a deny.
pub fn skip<E: Skips>(reason: impl Into<String>) -> Output<E> {
    Output::skip(reason)
}

/// Do not run the tool and give this result in its place: a text, or a [`Response`]. Where a client cannot, it is a
/// deny with the text.
pub fn respond<E: Responds>(response: impl Into<Response>) -> Output<E> {
    Output::respond(response)
}

/// Takes `allow`, `ask` and `deny`.
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

/// Takes `block`.
#[diagnostic::on_unimplemented(
    message = "`block` does not answer `{Self}`",
    note = "it answers `UserPromptSubmit`, `PostToolUse`, `Stop`, `SubagentStop`, `PreCompact` and `TaskCompleted`",
    note = "a tool or a permission takes `deny`; any event can `end_turn` or `end_session`"
)]
pub trait Blocks: Decides {
    #[doc(hidden)]
    fn gate(gate: BlockDecision) -> Self::Body;
}

/// Takes `skip`.
#[diagnostic::on_unimplemented(
    message = "`skip` does not answer `{Self}`",
    note = "only a tool that is about to run can be skipped: it answers `PreToolUse`"
)]
pub trait Skips: Decides {
    #[doc(hidden)]
    fn skip(reason: Option<String>) -> Self::Body;
}

/// Takes `respond`.
#[diagnostic::on_unimplemented(
    message = "`respond` does not answer `{Self}`",
    note = "only a tool that is about to run can be given a result: it answers `PreToolUse`"
)]
pub trait Responds: Decides {
    #[doc(hidden)]
    fn respond(response: Response) -> Self::Body;
}

/// Takes `.rewrite(…)`.
#[diagnostic::on_unimplemented(
    message = "`rewrite` has nothing to replace in `{Self}`",
    note = "it replaces a tool's input (`PreToolUse`, `PermissionRequest`, `CanUseTool`) or output (`PostToolUse`), a prompt \
            (`UserPromptSubmit`), a model's request (`BeforeLlm`) or response (`AfterLlm`)"
)]
pub trait Rewrites: Decides {
    /// A prompt is text, everything else is JSON.
    type Value;
    #[doc(hidden)]
    fn rewrite(body: &mut Self::Body, value: Self::Value);
}

/// Takes `.interrupt()`.
#[diagnostic::on_unimplemented(
    message = "`interrupt` is not for `{Self}`",
    note = "it goes with the `deny` of a `PermissionRequest` or `CanUseTool`; any event can `end_turn`"
)]
pub trait Interrupts: Decides {
    #[doc(hidden)]
    fn interrupt(body: &mut Self::Body);
}

/// Takes `.tool(…)`.
#[diagnostic::on_unimplemented(message = "`tool` is not for `{Self}`", note = "only `PreToolUse` can run another tool")]
pub trait Reroutes: Decides {
    #[doc(hidden)]
    fn reroute(body: &mut Self::Body, tool: String);
}

/// Takes `.permissions(…)`.
#[diagnostic::on_unimplemented(
    message = "`permissions` is not for `{Self}`",
    note = "it goes with the `allow` of a `PermissionRequest`"
)]
pub trait UpdatesPermissions: Decides {
    #[doc(hidden)]
    fn update_permissions(body: &mut Self::Body, updates: Json);
}

/// Takes `.env(…)`.
#[diagnostic::on_unimplemented(
    message = "`env` is not for `{Self}`",
    note = "a session's environment is set when it begins: it goes with `SessionStart`"
)]
pub trait Env: Decides {
    #[doc(hidden)]
    fn set(body: &mut Self::Body, name: String, value: String);
}
