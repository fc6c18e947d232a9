//! Hooks that gave no answer, and what that counts as.

use std::fmt;

use serde_json::Value;

use crate::{
    output::{Decision, DecisionKind, HookOutput, Note},
    protocol::EventSpec,
};

/// A hook that gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why, for rules.
    pub cause: Cause,
    /// Why, for people.
    pub message: String,
}

impl Failure {
    /// A failure with its message.
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
        /// Every way a hook can fail.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Cause { $($(#[$doc])* $name,)* }

        impl Cause {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word used in diagnostics, records and metrics.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

causes! {
    /// It ran past its timeout.
    Timeout "timeout",
    /// A component trapped.
    Trap "trap",
    /// A component used up its fuel.
    OutOfFuel "out-of-fuel",
    /// A component wanted more memory, tables or instances than granted.
    OutOfMemory "out-of-memory",
    /// A component's stack overflowed.
    StackOverflow "stack-overflow",
    /// The answer is larger than granted.
    OutputTooLarge "output-too-large",
    /// A component wrote more to the log than granted.
    LogFlood "log-flood",
    /// A component called the host more often than granted.
    TooManyHostCalls "too-many-host-calls",
    /// All places for running components are taken; trying again may help.
    Busy "busy",
    /// The hook itself says that it failed.
    Guest "guest-error",
    /// The answer is not JSON, or not of the dialect's form.
    BadOutput "bad-output",
    /// A command ended with a code that is neither 0 nor 2, or by a signal.
    Exit "exit-code",
    /// A command could not be started.
    Spawn "spawn",
    /// A command was not started: hooks run inside hooks too deep.
    TooDeep "too-deep",
    /// An http handler got no connection, or a status that is not 2xx.
    Http "http",
    /// A model call failed, or the model did not answer in the agreed form.
    Model "model",
    /// It rewrote what it has no authority for.
    Authority "authority",
    /// The hook could not be loaded.
    Load "load",
    /// The event could not be read, so the hook was not asked.
    Event "event",
    /// The event is beyond a limit of its reader, so the hook was not asked.
    EventTooLarge "event-too-large",
}

impl Cause {
    /// Whether the hook used up one of its limits. How much it needs, the event's author has a say in.
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

/// What a failed hook counts as: `failureBehavior`, `timeoutBehavior`, `onFailure`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FailurePolicy {
    /// As if it had said nothing.
    #[default]
    Ignore,
    /// As if it had refused.
    Deny,
    /// As if it had asked for the user.
    Ask,
}

/// How a front end tells its client that hookbox itself failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fallback {
    /// The exit code; `None`: the program's own for what went wrong.
    pub exit: Option<u8>,
    /// What goes to stdout.
    pub stdout: Option<Value>,
    /// Whether the reason goes to stderr.
    pub stderr: bool,
}

impl Fallback {
    /// The program's own exit code with the reason on stderr, which most clients note and go on.
    pub fn tell() -> Self {
        Self { exit: None, stdout: None, stderr: true }
    }

    /// Exit code 2 with the reason on stderr, which most clients take for a block.
    pub fn block(stdout: Option<Value>) -> Self {
        Self { exit: Some(2), stdout, stderr: true }
    }
}

/// What a failed hook's answer is under `behavior`.
///
/// decisions.md#failures: "`ignore` = as if it said nothing; `deny`/`ask` = as if it had returned that decision with a
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
