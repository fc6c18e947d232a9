//! Failed hooks, and the answers that they count as.

use std::fmt;

use serde_json::Value;

use crate::{
    output::{Decision, DecisionKind, HookOutput, Note},
    protocol::spec::EventSpec,
};

/// The failure of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The cause, for rules.
    pub cause: Cause,
    /// The message, for people.
    pub message: String,
}

impl Failure {
    /// Makes a failure with its message.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.cause.word(), self.message)
    }
}

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident $word:literal,)*) => {
        /// The cause of a hook's failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Cause { $($(#[$doc])* $name,)* }

        impl Cause {
            /// All causes.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word used in diagnostics, records and metrics.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

causes! {
    /// The hook exceeded its timeout.
    Timeout "timeout",
    /// A component trapped.
    Trap "trap",
    /// A component exhausted its fuel.
    OutOfFuel "out-of-fuel",
    /// A component exceeded its limit on memory, tables or instances.
    OutOfMemory "out-of-memory",
    /// A component's stack overflowed.
    StackOverflow "stack-overflow",
    /// The answer exceeds its size limit.
    OutputTooLarge "output-too-large",
    /// A component exceeded its limit on log output.
    LogFlood "log-flood",
    /// A component exceeded its limit on host calls.
    TooManyHostCalls "too-many-host-calls",
    /// All permits for running components are taken. A retry may help.
    Busy "busy",
    /// The hook reports an error.
    Guest "guest-error",
    /// The answer is not JSON, or does not follow the dialect.
    BadOutput "bad-output",
    /// A command that was killed by a signal, or ended with an exit code other than 0 and 2.
    Exit "exit-code",
    /// A command could not be started.
    Spawn "spawn",
    /// A command was not started, because hooks already run inside hooks too deeply.
    TooDeep "too-deep",
    /// An http handler got no connection, or a status other than 2xx.
    Http "http",
    /// A model call failed, or the model's answer does not have the requested form.
    Model "model",
    /// The hook rewrote something without the authority for it.
    Authority "authority",
    /// The hook could not be loaded.
    Load "load",
    /// The event is invalid, so the hook did not run.
    Event "event",
    /// The event exceeds a limit of its reader, so the hook did not run.
    EventTooLarge "event-too-large",
}

impl Cause {
    /// Returns true if the hook exceeded one of its limits. An event's author can influence the resources that the hook
    /// needs.
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            Self::Timeout
                | Self::OutOfFuel
                | Self::OutOfMemory
                | Self::StackOverflow
                | Self::OutputTooLarge
                | Self::LogFlood
                | Self::TooManyHostCalls
                | Self::EventTooLarge
        )
    }
}

/// Failure policy, the answer that a failed hook counts as: `failureBehavior`, `timeoutBehavior`, `onFailure`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FailurePolicy {
    /// The same as an empty answer.
    #[default]
    Ignore,
    /// The same as a denial.
    Deny,
    /// The same as a question to the user.
    Ask,
}

/// The form in which a front end reports an internal error to its client.
#[derive(Debug, Clone, PartialEq)]
pub struct Fallback {
    /// Exit code. `None`: the program's own code for this error.
    pub exit: Option<u8>,
    /// The JSON for stdout.
    pub stdout: Option<Value>,
    /// True if the reason goes to stderr.
    pub stderr: bool,
}

impl Fallback {
    /// A fallback with the program's own exit code and the reason on stderr. Most clients report it and continue.
    pub fn report() -> Self {
        Self { exit: None, stdout: None, stderr: true }
    }

    /// A fallback with exit code 2 and the reason on stderr. Most clients treat it as a block.
    pub fn block(stdout: Option<Value>) -> Self {
        Self { exit: Some(2), stdout, stderr: true }
    }
}

/// Makes the answer of a failed hook under its failure policy.
///
/// decisions.md#failures: "`ignore` = no output; `deny`/`ask` = as if it had returned that decision with a
/// reason that names the hook and the cause."; "On events without a permission decision `deny` blocks where the event
/// can be blocked and is otherwise recorded only."
pub fn failed_output(
    spec: &EventSpec,
    hook: &str,
    failure: &Failure,
    policy: FailurePolicy,
) -> (HookOutput, Option<Note>) {
    let decision = match policy {
        FailurePolicy::Ignore => return (HookOutput::default(), None),
        FailurePolicy::Deny => Decision::Deny,
        FailurePolicy::Ask => Decision::Ask,
    };
    let reason = format!("hook {hook} failed ({failure})");
    if spec.blockable || spec.expressible.decisions.contains(&DecisionKind::Deny) {
        (HookOutput::decided(decision, reason), None)
    } else {
        (
            HookOutput::default(),
            Some(Note::dropped(format!("{reason}; {} cannot be blocked, so it is only recorded", spec.name))),
        )
    }
}
