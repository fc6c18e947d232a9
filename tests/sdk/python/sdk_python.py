"""The hook of tests/sdk: see the README there."""

from dataclasses import fields as fields_of

from hookbox import (
    BadInput,
    allow,
    ask,
    block,
    config,
    deny,
    event,
    http,
    llm,
    log,
    on_after_llm,
    on_agent_event,
    on_before_llm,
    on_can_use_tool,
    on_notification,
    on_other_event,
    on_permission_request,
    on_post_tool_use,
    on_post_tool_use_failure,
    on_pre_compact,
    on_pre_tool_use,
    on_session_end,
    on_session_start,
    on_stop,
    on_subagent_start,
    on_subagent_stop,
    on_task_completed,
    on_user_prompt_submit,
    pass_,
    respond,
    skip,
    state,
)

HOUR = 3600


def fields(*values):
    return "|".join(shown(value) for value in values)


def shown(value):
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else "" if value is None else str(value)


def number(value):
    return "-" if value is None else value


def flag(value):
    return bool(value)


@on_pre_tool_use
def tool(call, context):
    handler = TOOLS.get(call.name)
    return handler(call, context) if handler else pass_()


def of_context(call, context):
    values = {field.name: getattr(context, field.name) for field in fields_of(context)}
    log.info(fields(*(number(value) if name == "iteration" else value for name, value in values.items())))


def logs(call, context):
    log.debug("one é")
    log.info("two")
    log.warn("three")
    log.error("four")


def of_config(call, context):
    settings = config.get()
    return pass_().with_context(fields(settings["greeting"], settings["nested"]["number"]))


def use_state(call, context):
    before = state.get("a") or "-"
    state.set("a", "é")
    return pass_().with_context(
        fields(
            before,
            state.get("a") or "-",
            state.increment("n", 5),
            state.increment("n", -2),
            state.compare_and_swap("a", "x", "y"),
            state.compare_and_swap("a", "é", "z"),
            state.compare_and_swap("b", None, "1"),
            state.keys(),
            state.delete("a"),
            state.delete("a"),
        )
    )


def keep(call, context):
    state.set("kept", "1", ttl=HOUR)
    state.increment("window", 1, ttl=HOUR)


def not_a_number(call, context):
    state.set("t", "x")
    try:
        state.increment("t")
    except state.NotANumberError:
        return pass_().with_context("not a number")


def post(call, context):
    response = http.post(call.input["url"], json={"a": "é"}, headers={"x-a": "1"})
    return pass_().with_context(fields(response.status, response.header("x-answer"), response.text))


def get_denied(call, context):
    try:
        http.get("https://nowhere.example/")
    except http.DeniedError:
        return pass_().with_context("denied")


def fail(call, context):
    raise RuntimeError("it broke")


def at_fault(call, context):
    raise BadInput("not mine")


TOOLS = {
    "allow": lambda call, _: allow("fine").with_input({**call.input, "command": "ls -l"}),
    "ask": lambda *_: ask("sure?"),
    "skip": lambda *_: skip("left out"),
    "deny": lambda call, _: deny(call.input["command"]),
    "respond": lambda *_: respond(
        "instead", for_user="shown", silent=True, is_error=True, extra={"media": ["m"]}
    ),
    "reroute": lambda *_: allow().with_tool("other"),
    "rewrite": lambda *_: allow().with_input({"a": [1, 2.5, None, True, "é"]}),
    "effects": lambda *_: (
        pass_().with_context("one").with_system_message("warned").suppressed().with_extra({"odd": 1})
    ),
    "turn": lambda *_: pass_().end_turn("enough"),
    "session": lambda *_: pass_().end_session("over"),
    "call": lambda call, _: pass_().with_context(
        fields(call.name, call.input.get("command"), call.use_id, (call.original_input or {}).get("command"))
    ),
    "context": of_context,
    "log": logs,
    "config": of_config,
    "raw": lambda *_: pass_().with_context(event.raw()["odd"]),
    "state": use_state,
    "count": lambda *_: pass_().with_context(str(state.increment("count"))),
    "kept": keep,
    "dump": lambda *_: pass_().with_context(",".join(f"{key}={state.get(key)}" for key in state.keys())),
    "not-a-number": not_a_number,
    "http": post,
    "http-denied": get_denied,
    "llm": lambda *_: pass_().with_context(llm.complete("why?", system="be short", max_tokens=20)),
    "fail": fail,
    "bad-input": at_fault,
}


@on_post_tool_use
def ran(call, output):
    if call.name == "block":
        return block("bad output")
    if call.name == "rewrite":
        return pass_().with_output(call.input)
    return pass_().with_context(fields(call.name, output.value.get("stdout"), number(output.duration_ns)))


@on_post_tool_use_failure
def failed(call, failure):
    is_interrupt, is_timeout = flag(failure.is_interrupt), flag(failure.is_timeout)
    return pass_().with_context(fields(call.name, failure.error, failure.error_type, is_interrupt, is_timeout))


@on_permission_request
def permission(call, event):
    if call.name == "allow":
        return allow().with_input({"command": "ls -l"}).with_permissions(event.suggestions)
    return {"ask": ask("sure?"), "interrupt": deny("never").interrupting(), "deny": deny("no")}.get(call.name)


@on_can_use_tool
def can_use(call, event):
    if call.name == "allow":
        return allow("fine").with_input({"command": "ls -l"})
    if call.name == "ask":
        return ask()
    if call.name == "interrupt":
        return deny("never").interrupting()
    return deny(fields(event.tool_kind, event.affected_paths))


@on_user_prompt_submit
def prompt(event):
    if event.prompt == "block":
        return block("not that")
    if event.prompt == "rewrite":
        return pass_().with_prompt("rewritten")
    return pass_().with_context(fields(event.prompt, flag(event.has_images), number(event.image_count)))


@on_session_start
def begun(event):
    context = fields(event.source, flag(event.is_resume), event.resume_session_id)
    return pass_().with_context(context).with_env("A", "1").with_env("B", "é")


@on_session_end
def ended(event):
    log.info(fields(event.reason, number(event.total_turns), number(event.total_tokens)))


@on_notification
def told(event):
    return pass_().with_system_message(fields(event.message, event.title, event.notification_type))


@on_subagent_start
def subagent_begun(event):
    return pass_().with_context(
        fields(event.agent_id, event.agent_type, event.task_description, event.parent_agent_id)
    )


@on_subagent_stop
def subagent_done(event):
    if event.stop_hook_active:
        return pass_()
    who = event.agent_id, event.agent_type, event.agent_transcript_path, event.task_description
    return block(fields(*who, flag(event.success), event.result_summary, event.error, event.final_response))


@on_stop
def stop(event):
    return pass_() if event.stop_hook_active else block(fields(event.stop_reason, event.final_response))


@on_pre_compact
def compact(event):
    if event.trigger != "auto":
        return pass_()
    before = number(event.messages_before), number(event.tokens_before)
    return block(fields(event.trigger, event.custom_instructions, *before))


@on_task_completed
def task(event):
    about = event.task_id, event.task_subject, event.task_description, event.result_summary
    return block(fields(*about, flag(event.success)))


@on_before_llm
def request(event):
    message, tool = (event.messages or [{}])[0], (event.tools or [{}])[0]
    mode = (event.options or {}).get("mode")
    log.info(fields(message.get("content"), tool.get("name"), mode, flag(event.graceful_terminal)))
    return pass_().with_request({"model": event.model + "-small"})


@on_after_llm
def response(event):
    log.info(event.model)
    return pass_().with_response({"content": "clean " + shown(event.response.get("content"))})


@on_agent_event
def happened(event):
    log.info(fields(event.kind, (event.payload or {}).get("name")))


@on_other_event
def other(event, context):
    if not event.get("quiet"):
        return {"systemMessage": f"{context.event_name} {shown(event.get('word'))}"}
