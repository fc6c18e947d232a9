//! The event kinds of the contract.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $wit:literal,)*) => {
        /// Every event kind of the contract, independent of dialects.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind { $($(#[$doc])* $name,)* }

        impl EventKind {
            /// All event kinds.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The event's interface in the WIT package `hookbox:hooks`.
            pub const fn interface(self) -> &'static str {
                match self { $(Self::$name => $wit,)* }
            }

            /// The event's usual name in the field, for example `PreToolUse`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

kinds! {
    /// A session begins or is resumed.
    SessionStart "session-start",
    /// A session ends.
    SessionEnd "session-end",
    /// The user sent a prompt.
    UserPromptSubmit "user-prompt-submit",
    /// A tool is about to run.
    PreToolUse "pre-tool-use",
    /// A tool ran and succeeded.
    PostToolUse "post-tool-use",
    /// A tool ran and failed.
    PostToolUseFailure "post-tool-use-failure",
    /// The user is about to be asked for a permission.
    PermissionRequest "permission-request",
    /// The permission callback beside the hooks.
    CanUseTool "can-use-tool",
    /// The agent notifies the user.
    Notification "notification",
    /// A subagent begins.
    SubagentStart "subagent-start",
    /// A subagent is done.
    SubagentStop "subagent-stop",
    /// The agent is done answering.
    Stop "stop",
    /// The context is about to be compacted.
    PreCompact "pre-compact",
    /// A task is being marked as done.
    TaskCompleted "task-completed",
    /// A request is about to go to the model.
    BeforeLlm "before-llm",
    /// The model answered.
    AfterLlm "after-llm",
    /// Something happened in the agent loop.
    AgentEvent "agent-event",
    /// Any event without an interface.
    OtherEvent "other-event",
}

impl EventKind {
    /// A list with only this kind.
    pub fn alone(self) -> &'static [Self] {
        Self::ALL.iter().position(|kind| *kind == self).and_then(|i| Self::ALL.get(i..=i)).unwrap_or_default()
    }

    /// Returns true if the event is about one tool call.
    pub const fn has_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::PermissionRequest
                | Self::CanUseTool
        )
    }
}
