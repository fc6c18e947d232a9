// Written by `just bindings` from the contract. Do not edit.

//! The events in the prelude: each module, and the trait in it.

pub use crate::after_llm::{self, AfterLlm};
pub use crate::agent_event::{self, AgentEvent};
pub use crate::before_llm::{self, BeforeLlm};
pub use crate::can_use_tool::{self, CanUseTool};
pub use crate::notification::{self, Notification};
pub use crate::other_event::{self, OtherEvent};
pub use crate::permission_request::{self, PermissionRequest};
pub use crate::post_tool_use::{self, PostToolUse};
pub use crate::post_tool_use_failure::{self, PostToolUseFailure};
pub use crate::pre_compact::{self, PreCompact};
pub use crate::pre_tool_use::{self, PreToolUse};
pub use crate::session_end::{self, SessionEnd};
pub use crate::session_start::{self, SessionStart};
pub use crate::stop::{self, Stop};
pub use crate::subagent_start::{self, SubagentStart};
pub use crate::subagent_stop::{self, SubagentStop};
pub use crate::task_completed::{self, TaskCompleted};
pub use crate::user_prompt_submit::{self, UserPromptSubmit};
