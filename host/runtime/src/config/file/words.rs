//! The words for decisions and for the results of failures.

use hookbox_protocol::{FailurePolicy, authority::Power};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

/// Defines an enum of words. Each word maps to a value of a type in the protocol crate.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$word_doc:meta])* $word:ident => $value:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "lowercase")]
        pub(in crate::config) enum $name { $($(#[$word_doc])* $word,)* }

        impl From<$name> for $target {
            fn from(word: $name) -> Self {
                match word { $($name::$word => Self::$value,)* }
            }
        }
    };
}

words! {
    /// The result of a failure.
    OnFailure => FailurePolicy {
        /// As if the hook had no output.
        Ignore => Ignore,
        /// As if it had denied.
        Block => Deny,
        /// As if its output were `ask`.
        Ask => Ask,
    }
}

words! {
    /// The result of a failure, in the words of blade's specification.
    SpecBehavior => FailurePolicy {
        /// As if the hook had no output.
        Ignore => Ignore,
        /// As if it had denied.
        Deny => Deny,
        /// As if its output were `ask`.
        Ask => Ask,
    }
}

words! {
    /// A decision.
    PowerWord => Power {
        /// Deny, or block.
        Deny => Deny,
        /// Ask the user.
        Ask => Ask,
        /// Allow without asking the user.
        Allow => Allow,
        /// Leave the call out.
        Skip => Skip,
        /// Give the tool's result.
        Respond => Respond,
        /// End the turn or the session.
        Abort => Abort,
    }
}
