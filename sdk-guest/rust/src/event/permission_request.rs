//! The user is about to be asked for a permission. claude, blade, blade-callback; picoclaw: `hook.approve_tool`.

use crate::bindings::permission_request::exports::hookbox::hooks::permission_request as wit;
use crate::output::PermissionDecision;
use crate::verb::UpdatesPermissions;
use crate::wire::{Lower, event, input};
use crate::{Json, ToolCall};

input! {
    /// Details of the permission request.
    Event from wit::Event {
        /// claude: `permission_suggestions`, an array of permission updates.
        suggestions: Option<Json>,
    }
}

/// The output of a hook, given in the user's place.
pub type Output = crate::Output<Event>;

/// The decision about the permission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The permission decision.
    pub decision: PermissionDecision,
    /// claude: a replacement for the whole input of the tool.
    pub input: Option<Json>,
    /// claude: permission updates to apply with an `allow`.
    pub permissions: Option<Json>,
}

event! {
    /// The user is about to be asked for a permission: answer in their place, or leave it to them.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Approver;
    ///
    /// impl PermissionRequest for Approver {
    ///     fn handle(
    ///         _: &EventContext,
    ///         call: &ToolCall,
    ///         _: &permission_request::Event,
    ///     ) -> Result<permission_request::Output> {
    ///         Ok(if call.name == "WebFetch" { deny("no network here").interrupt() } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Approver: PermissionRequest);
    /// ```
    PermissionRequest in permission_request(call: ToolCall, event: Event) -> Output
}

permission!(Event);

impl UpdatesPermissions for Event {
    fn update_permissions(body: &mut Body, updates: Json) {
        body.permissions = Some(updates);
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        let Body { decision, input, permissions } = self.body;
        wit::Output {
            decision,
            updated_input: input.map(Json::into_text),
            updated_permissions: permissions.map(Json::into_text),
            effects: self.effects.into(),
        }
    }
}
