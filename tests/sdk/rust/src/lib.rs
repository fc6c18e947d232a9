//! The hook of `tests/sdk`: see the README there.

use std::time::Duration;

use hookbox_guest::prelude::*;

const HOUR: Duration = Duration::from_hours(1);

struct Hook;

hookbox_guest::export!(
    Hook: PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest, CanUseTool, UserPromptSubmit, SessionStart,
    SessionEnd, Notification, SubagentStart, SubagentStop, Stop, PreCompact, TaskCompleted, BeforeLlm, AfterLlm, AgentEvent,
    OtherEvent
);

/// Formats a field as the table does.
trait Show {
    fn show(&self) -> String;
}

impl Show for Option<String> {
    fn show(&self) -> String {
        self.clone().unwrap_or_default()
    }
}

impl Show for Option<bool> {
    fn show(&self) -> String {
        self.unwrap_or_default().to_string()
    }
}

impl Show for Option<u32> {
    fn show(&self) -> String {
        self.map_or_else(|| "-".into(), |number| number.to_string())
    }
}

impl Show for Option<u64> {
    fn show(&self) -> String {
        self.map_or_else(|| "-".into(), |number| number.to_string())
    }
}

impl Show for String {
    fn show(&self) -> String {
        self.clone()
    }
}

impl Show for Option<&str> {
    fn show(&self) -> String {
        self.unwrap_or_default().to_owned()
    }
}

impl Show for Vec<String> {
    fn show(&self) -> String {
        self.join(",")
    }
}

macro_rules! fields {
    ($($field:expr),* $(,)?) => { [$($field.show()),*].join("|") };
}

impl PreToolUse for Hook {
    fn handle(context: &EventContext, call: &ToolCall) -> Result<Output> {
        Ok(match call.name.as_str() {
            "allow" => allow().reason("fine").rewrite(call.input.with("/command", "ls -l")?),
            "ask" => ask("sure?"),
            "skip" => skip("left out"),
            "deny" => deny(call.input.str("/command").show()),
            "respond" => {
                respond(Response::new("instead").for_user("shown").silent().error().extra(json!({ "media": ["m"] })))
            }
            "reroute" => allow().tool("other"),
            "rewrite" => allow().rewrite(json!({ "a": [1, 2.5, null, true, "é"] })),
            "effects" => pass().context("one").system_message("warned").suppress_output().extra(json!({ "odd": 1 })),
            "turn" => pass().end_turn("enough"),
            "session" => pass().end_session("over"),
            "call" => pass().context(fields![
                call.name,
                call.input.str("/command"),
                call.use_id,
                call.original_input.as_ref().and_then(|input| input.str("/command")),
            ]),
            "context" => {
                log::info(all(context));
                pass()
            }
            "log" => {
                log::debug("one é");
                log::info("two");
                log::warn("three");
                log::error("four");
                pass()
            }
            "config" => {
                let config: Value = config::get()?;
                let number = config.pointer("/nested/number").and_then(Value::as_i64).unwrap_or_default();
                pass().context(format!("{}|{number}", config.pointer("/greeting").and_then(Value::as_str).show()))
            }
            "raw" => pass().context(raw_event().str("/odd").show()),
            "count" => pass().context(state::increment("count", 1)?.to_string()),
            "kept" => {
                state::set_for(HOUR, "kept", "1")?;
                state::increment_for(HOUR, "window", 1)?;
                pass()
            }
            "state" => pass().context(use_state()?),
            "dump" => {
                let mut all = Vec::new();
                for key in state::keys("")? {
                    all.push(format!("{key}={}", state::get(&key)?.show()));
                }
                pass().context(all.join(","))
            }
            "not-a-number" => {
                state::set("t", "x")?;
                match state::increment("t", 1) {
                    Err(state::Error::NotANumber) => pass().context("not a number"),
                    _ => pass(),
                }
            }
            "http" => {
                let url = call.input.str("/url").show();
                let response = http::Request::post(url).header("x-a", "1").json(&json!({ "a": "é" })).send()?;
                let header = response.header("x-answer").show();
                pass().context(format!("{}|{header}|{}", response.status, response.text()?))
            }
            "http-denied" => match http::Request::get("https://nowhere.example/").send() {
                Err(http::Error::Denied(_)) => pass().context("denied"),
                _ => pass(),
            },
            "llm" => pass().context(llm::Prompt::new("why?").system("be short").max_tokens(20).complete()?),
            "fail" => return Err("it broke".into()),
            "bad-input" => return Err(Fault::bad_input("not mine")),
            _ => pass(),
        })
    }
}

fn all(context: &EventContext) -> String {
    let EventContext { dialect, event_name, session_id, transcript_path, cwd, permission_mode, .. } = context;
    fields![
        dialect,
        event_name,
        session_id,
        transcript_path,
        cwd,
        permission_mode,
        context.project_dir,
        context.execution_id,
        context.timestamp,
        context.agent_id,
        context.parent_tool_use_id,
        context.turn_id,
        context.parent_turn_id,
        context.iteration,
        context.channel,
        context.chat_id,
    ]
}

fn use_state() -> Result<String> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let before = text(state::get("a")?);
    state::set("a", "é")?;
    Ok([
        before,
        text(state::get("a")?),
        state::increment("n", 5)?.to_string(),
        state::increment("n", -2)?.to_string(),
        state::compare_and_swap("a", Some("x"), "y")?.to_string(),
        state::compare_and_swap("a", Some("é"), "z")?.to_string(),
        state::compare_and_swap("b", None, "1")?.to_string(),
        state::keys("")?.join(","),
        state::delete("a")?.to_string(),
        state::delete("a")?.to_string(),
    ]
    .join("|"))
}

impl PostToolUse for Hook {
    fn handle(_: &EventContext, call: &ToolCall, output: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
        Ok(match call.name.as_str() {
            "block" => block("bad output"),
            "rewrite" => pass().rewrite(call.input.clone()),
            _ => pass().context(fields![call.name, output.value.str("/stdout"), output.duration_ns]),
        })
    }
}

impl PostToolUseFailure for Hook {
    fn handle(
        _: &EventContext,
        call: &ToolCall,
        failure: &post_tool_use_failure::Failure,
    ) -> Result<post_tool_use_failure::Output> {
        let post_tool_use_failure::Failure { error, error_type, is_interrupt, is_timeout, .. } = failure;
        Ok(pass().context(fields![call.name, error, error_type, is_interrupt, is_timeout]))
    }
}

impl PermissionRequest for Hook {
    fn handle(
        _: &EventContext,
        call: &ToolCall,
        event: &permission_request::Event,
    ) -> Result<permission_request::Output> {
        Ok(match call.name.as_str() {
            "allow" => {
                let output = allow().rewrite(json!({ "command": "ls -l" }));
                event.suggestions.iter().fold(output, |output, updates| output.permissions(updates.clone()))
            }
            "ask" => ask("sure?"),
            "interrupt" => deny("never").interrupt(),
            "deny" => deny("no"),
            _ => pass(),
        })
    }
}

impl CanUseTool for Hook {
    fn handle(_: &EventContext, call: &ToolCall, event: &can_use_tool::Event) -> Result<can_use_tool::Output> {
        Ok(match call.name.as_str() {
            "allow" => allow().reason("fine").rewrite(json!({ "command": "ls -l" })),
            "ask" => ask(""),
            "interrupt" => deny("never").interrupt(),
            _ => deny(fields![event.tool_kind, event.affected_paths]),
        })
    }
}

impl UserPromptSubmit for Hook {
    fn handle(_: &EventContext, event: &user_prompt_submit::Event) -> Result<user_prompt_submit::Output> {
        Ok(match event.prompt.as_str() {
            "block" => block("not that"),
            "rewrite" => pass().rewrite("rewritten"),
            _ => pass().context(fields![event.prompt, event.has_images, event.image_count]),
        })
    }
}

impl SessionStart for Hook {
    fn handle(_: &EventContext, event: &session_start::Event) -> Result<session_start::Output> {
        let context = fields![event.source, event.is_resume, event.resume_session_id];
        Ok(pass().context(context).env("A", "1").env("B", "é"))
    }
}

impl SessionEnd for Hook {
    fn handle(_: &EventContext, event: &session_end::Event) -> Result<session_end::Output> {
        log::info(fields![event.reason, event.total_turns, event.total_tokens]);
        Ok(pass())
    }
}

impl Notification for Hook {
    fn handle(_: &EventContext, event: &notification::Event) -> Result<notification::Output> {
        Ok(pass().system_message(fields![event.message, event.title, event.notification_type]))
    }
}

impl SubagentStart for Hook {
    fn handle(_: &EventContext, event: &subagent_start::Event) -> Result<subagent_start::Output> {
        let subagent_start::Event { agent_id, agent_type, task_description, parent_agent_id, .. } = event;
        Ok(pass().context(fields![agent_id, agent_type, task_description, parent_agent_id]))
    }
}

impl SubagentStop for Hook {
    fn handle(_: &EventContext, event: &subagent_stop::Event) -> Result<subagent_stop::Output> {
        if event.stop_hook_active == Some(true) {
            return Ok(pass());
        }
        Ok(block(fields![
            event.agent_id,
            event.agent_type,
            event.agent_transcript_path,
            event.task_description,
            event.success,
            event.result_summary,
            event.error,
            event.final_response,
        ]))
    }
}

impl Stop for Hook {
    fn handle(_: &EventContext, event: &stop::Event) -> Result<stop::Output> {
        if event.stop_hook_active == Some(true) {
            return Ok(pass());
        }
        Ok(block(fields![event.stop_reason, event.final_response]))
    }
}

impl PreCompact for Hook {
    fn handle(_: &EventContext, event: &pre_compact::Event) -> Result<pre_compact::Output> {
        let pre_compact::Event { trigger, custom_instructions, messages_before, tokens_before, .. } = event;
        Ok(match trigger.as_deref() {
            Some("auto") => block(fields![trigger, custom_instructions, messages_before, tokens_before]),
            _ => pass(),
        })
    }
}

impl TaskCompleted for Hook {
    fn handle(_: &EventContext, event: &task_completed::Event) -> Result<task_completed::Output> {
        let task_completed::Event { task_id, task_subject, task_description, result_summary, success, .. } = event;
        Ok(block(fields![task_id, task_subject, task_description, result_summary, success]))
    }
}

impl BeforeLlm for Hook {
    fn handle(_: &EventContext, event: &before_llm::Event) -> Result<before_llm::Output> {
        log::info(fields![
            event.messages.str("/0/content"),
            event.tools.str("/0/name"),
            event.options.str("/mode"),
            event.graceful_terminal,
        ]);
        Ok(pass().rewrite(json!({ "model": format!("{}-small", event.model) })))
    }
}

impl AfterLlm for Hook {
    fn handle(_: &EventContext, event: &after_llm::Event) -> Result<after_llm::Output> {
        log::info(&event.model);
        let content = format!("clean {}", event.response.str("/content").show());
        Ok(pass().rewrite(json!({ "content": content })))
    }
}

impl AgentEvent for Hook {
    fn handle(_: &EventContext, event: &agent_event::Event) -> Result<()> {
        log::info(fields![event.kind, event.payload.str("/name")]);
        Ok(())
    }
}

impl OtherEvent for Hook {
    fn handle(context: &EventContext, event: &Json) -> Result<Option<Json>> {
        if event.bool("/quiet") == Some(true) {
            return Ok(None);
        }
        let text = format!("{} {}", context.event_name, event.str("/word").show());
        Ok(Some(json!({ "systemMessage": text }).into()))
    }
}
