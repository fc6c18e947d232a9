//! The user is about to be asked for a permission. claude, blade, blade-callback; picoclaw: `hook.approve_tool`.

use crate::bindings::permission_request::exports::hookbox::hooks::permission_request as wit;
use crate::decision::Permission;
use crate::verb::UpdatesPermissions;
use crate::wire::{Lower, event, input};
use crate::{Json, ToolCall};

input! {
    /// What comes with the question.
    Event from wit::Event {
        /// claude: `permission_suggestions`, an array of permission updates.
        suggestions: Option<Json>,
    }
}

/// What a hook answers in the user's place.
pub type Decision = crate::Decision<Event>;

/// What is said about the permission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Whether it is granted.
    pub rule: Permission,
    /// claude: the whole input the tool gets instead.
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
    ///         _: &Origin,
    ///         call: &ToolCall,
    ///         _: &permission_request::Event,
    ///     ) -> Result<permission_request::Decision> {
    ///         Ok(if call.name == "WebFetch" { deny("no network here").interrupt() } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Approver: PermissionRequest);
    /// ```
    PermissionRequest in permission_request(call: ToolCall, event: Event) -> Decision
}

permission!(Event);

impl UpdatesPermissions for Event {
    fn update_permissions(verdict: &mut Verdict, updates: Json) {
        verdict.permissions = Some(updates);
    }
}

impl Lower for Decision {
    type Wire = wit::Decision;

    fn lower(self) -> wit::Decision {
        let Verdict { rule, input, permissions } = self.verdict;
        wit::Decision {
            rule,
            updated_input: input.map(Json::into_text),
            updated_permissions: permissions.map(Json::into_text),
            effects: self.effects.into(),
        }
    }
}
