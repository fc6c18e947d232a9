//! The events, one module each: its input, its decision, its trait.

/// An event that can only be commented on.
macro_rules! notice {
    ($input:ident) => {
        impl $crate::output::Decides for $input {
            type Body = ();
        }

        impl $crate::wire::Lower for Output {
            type Wire = $crate::bindings::shared::hookbox::hooks::types::Effects;

            fn lower(self) -> Self::Wire {
                self.effects.into()
            }
        }
    };
}

/// An event that can be blocked and nothing more.
macro_rules! gate {
    ($input:ident) => {
        impl $crate::output::Decides for $input {
            type Body = $crate::output::BlockDecision;
        }

        impl $crate::verb::Blocks for $input {
            fn gate(gate: $crate::output::BlockDecision) -> Self::Body {
                gate
            }
        }

        impl $crate::wire::Lower for Output {
            type Wire = wit::Output;

            fn lower(self) -> Self::Wire {
                wit::Output { decision: self.body, effects: self.effects.into() }
            }
        }
    };
}

/// A permission question; its body has a `decision` and an `input`.
macro_rules! permission {
    ($input:ident) => {
        impl $crate::output::Decides for $input {
            type Body = Body;
        }

        impl $crate::verb::Permits for $input {
            fn permit(permission: $crate::output::PermissionDecision) -> Body {
                Body { decision: permission, ..Body::default() }
            }

            fn explain(body: &mut Body, reason: Option<String>) {
                use $crate::output::PermissionDecision;

                match &mut body.decision {
                    PermissionDecision::Pass => {}
                    PermissionDecision::Allow(text) | PermissionDecision::Ask(text) => *text = reason,
                    PermissionDecision::Deny(denial) => denial.message = reason,
                }
            }
        }

        impl $crate::verb::Interrupts for $input {
            fn interrupt(body: &mut Body) {
                if let $crate::output::PermissionDecision::Deny(denial) = &mut body.decision {
                    denial.interrupt = true;
                }
            }
        }

        impl $crate::verb::Rewrites for $input {
            type Value = $crate::Json;

            fn rewrite(body: &mut Body, value: $crate::Json) {
                body.input = Some(value);
            }
        }
    };
}

pub mod after_llm;
pub mod agent_event;
pub mod before_llm;
pub mod can_use_tool;
pub mod notification;
pub mod other_event;
pub mod permission_request;
pub mod post_tool_use;
pub mod post_tool_use_failure;
pub mod pre_compact;
pub mod pre_tool_use;
pub mod session_end;
pub mod session_start;
pub mod stop;
pub mod subagent_start;
pub mod subagent_stop;
pub mod task_completed;
pub mod user_prompt_submit;
