//! Macros for the outputs that several events share: effects only, a block decision, a permission decision.

/// Implements an event whose output has effects only.
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

/// Implements an event that can be blocked.
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

/// Implements a permission request. Its body has the fields `decision` and `input`.
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
