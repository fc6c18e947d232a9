//! The context of an event.

use crate::bindings::shared::hookbox::hooks::types as wit;
use crate::wire::input;

input! {
    /// The context that every event has. Fields that a dialect does not send are `None`.
    ///
    /// In a test, write the fields that matter and take the rest from the default:
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// let context = EventContext { session_id: Some("s-1".into()), ..EventContext::default() };
    /// ```
    EventContext from wit::EventContext {
        /// The hook protocol: `claude`, `codebuddy`, `blade`, `blade-callback` or `picoclaw`.
        dialect: String,
        /// The event's name as the client wrote it, for example `PreToolUse` or `hook.before_tool`.
        event_name: String,
        /// The session. picoclaw: `meta.SessionKey`.
        session_id: Option<String>,
        /// claude, codebuddy: file with the conversation so far.
        transcript_path: Option<String>,
        /// claude, codebuddy: the client's working directory.
        cwd: Option<String>,
        /// claude, codebuddy, blade: for example `default`, `acceptEdits`, `bypassPermissions`.
        permission_mode: Option<String>,
        /// blade: the project's directory.
        project_dir: Option<String>,
        /// blade: `hook_execution_id`, one per execution of the event.
        execution_id: Option<String>,
        /// blade: `timestamp`; picoclaw events: `Time`. ISO 8601.
        timestamp: Option<String>,
        /// picoclaw: `meta.AgentID`; claude: the subagent in which the event happened.
        agent_id: Option<String>,
        /// claude: the tool call that started the subagent in which the event happened.
        parent_tool_use_id: Option<String>,
        /// picoclaw: `meta.TurnID`.
        turn_id: Option<String>,
        /// picoclaw: `meta.ParentTurnID`, empty for a turn of its own.
        parent_turn_id: Option<String>,
        /// picoclaw: `meta.Iteration`, the model call within the turn, from 0.
        iteration: Option<u32>,
        /// picoclaw: where the conversation takes place, for example `cli`.
        channel: Option<String>,
        /// picoclaw: the conversation within the channel.
        chat_id: Option<String>,
    }
}
