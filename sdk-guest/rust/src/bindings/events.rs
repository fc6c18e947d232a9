// Written by `just bindings` from the contract. Do not edit.

//! The worlds with one event.

#[rustfmt::skip]
pub mod session_start;
#[rustfmt::skip]
pub mod session_end;
#[rustfmt::skip]
pub mod user_prompt_submit;
#[rustfmt::skip]
pub mod pre_tool_use;
#[rustfmt::skip]
pub mod post_tool_use;
#[rustfmt::skip]
pub mod post_tool_use_failure;
#[rustfmt::skip]
pub mod permission_request;
#[rustfmt::skip]
pub mod can_use_tool;
#[rustfmt::skip]
pub mod notification;
#[rustfmt::skip]
pub mod subagent_start;
#[rustfmt::skip]
pub mod subagent_stop;
#[rustfmt::skip]
pub mod stop;
#[rustfmt::skip]
pub mod pre_compact;
#[rustfmt::skip]
pub mod task_completed;
#[rustfmt::skip]
pub mod before_llm;
#[rustfmt::skip]
pub mod after_llm;
#[rustfmt::skip]
pub mod agent_event;
#[rustfmt::skip]
pub mod other_event;
