// Written by `just bindings` from the contract. Do not edit.

//! The events, one module each: its input, its decision, its trait.

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

pub(crate) mod traits;
