//! The events, one module each: its input, its decision, its trait.

/// An event that can only be commented on.
macro_rules! notice {
    ($input:ident) => {
        impl $crate::decision::Decides for $input {
            type Verdict = ();
        }

        impl $crate::wire::Lower for Decision {
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
        impl $crate::decision::Decides for $input {
            type Verdict = $crate::decision::Gate;
        }

        impl $crate::verb::Blocks for $input {
            fn gate(gate: $crate::decision::Gate) -> Self::Verdict {
                gate
            }
        }

        impl $crate::wire::Lower for Decision {
            type Wire = wit::Decision;

            fn lower(self) -> Self::Wire {
                wit::Decision { rule: self.verdict, effects: self.effects.into() }
            }
        }
    };
}

/// A permission question; its verdict has a `rule` and an `input`.
macro_rules! permission {
    ($input:ident) => {
        impl $crate::decision::Decides for $input {
            type Verdict = Verdict;
        }

        impl $crate::verb::Permits for $input {
            fn permit(permission: $crate::decision::Permission) -> Verdict {
                Verdict { rule: permission, ..Verdict::default() }
            }

            fn explain(verdict: &mut Verdict, reason: Option<String>) {
                use $crate::decision::Permission;

                match &mut verdict.rule {
                    Permission::Pass => {}
                    Permission::Allow(text) | Permission::Ask(text) => *text = reason,
                    Permission::Deny(denial) => denial.message = reason,
                }
            }
        }

        impl $crate::verb::Interrupts for $input {
            fn interrupt(verdict: &mut Verdict) {
                if let $crate::decision::Permission::Deny(denial) = &mut verdict.rule {
                    denial.interrupt = true;
                }
            }
        }

        impl $crate::verb::Rewrites for $input {
            type Value = $crate::Json;

            fn rewrite(verdict: &mut Verdict, value: $crate::Json) {
                verdict.input = Some(value);
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
