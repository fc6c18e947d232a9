"""Handles several events, and does what a tool's name says to show what works in Python."""

import logging
import random
import sys
import time
import uuid

from hookbox import (
    BadInput,
    EventContext,
    StopEvent,
    ToolCall,
    ToolFailure,
    ToolOutput,
    UserPromptSubmitEvent,
    allow,
    block,
    config,
    deny,
    event,
    http,
    llm,
    log,
    on_permission_request,
    on_post_tool_use,
    on_post_tool_use_failure,
    on_pre_tool_use,
    on_session_start,
    on_stop,
    on_user_prompt_submit,
    pass_,
    respond,
    skip,
    state,
)

print("printed while it is built")


@on_pre_tool_use
def probe(call: ToolCall, context: EventContext):
    return PROBES[call.name](call, context)


def told(probe):
    return lambda call, context: pass_().with_context(str(probe(call, context)))


def sleeps(call, context):
    before, wall = time.monotonic(), time.time()
    time.sleep(0.05)
    return 0.05 <= time.monotonic() - before < 10 and time.time() > wall


def prints(call, context):
    print("to stdout")
    print("to", "stderr", file=sys.stderr)
    print("two\nlines", end="")
    logging.debug("to %s", "logging")
    logging.getLogger("probe").error("of a logger")
    log.warn({"a": "é"})


def fails(call, context):
    import other

    other.fails()


def lazily(call, context):
    import decimal
    from datetime import datetime

    import idna

    return decimal.Decimal("0.1") * 3, datetime.strptime("2026-01-02", "%Y-%m-%d").year, idna.encode("bücher.de")


def caught(probe):
    def run(call, context):
        try:
            return probe()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    return run


def opens_socket():
    import socket

    socket.create_connection(("127.0.0.1", 80))


def starts_thread():
    import threading

    threading.Thread(target=print).start()


def runs_program():
    import subprocess

    subprocess.run(["ls"])


def deep(n=0):
    return deep(n + 1)


def keeps_state(call, context):
    state.set("é", "1", ttl=60)
    swapped = state.compare_and_swap("é", "1", "2é")
    state.set("text", "x")
    try:
        state.increment("text")
    except state.NotANumberError as error:
        wrong = str(error)
    return (
        state.get("é"),
        swapped,
        state.get("missing"),
        state.increment("n", 2**40),
        state.increment("n", -1),
        state.delete("missing"),
        state.keys("t"),
        wrong,
    )


def asks(call, context):
    try:
        return http.get("https://other.example.com/")
    except http.DeniedError as error:
        return f"denied: {error}"


def asks_model(call, context):
    try:
        return llm.complete("yes?", max_tokens=1)
    except llm.FailedError:
        return "failed"


PROBES = {
    "time": told(lambda call, context: int(time.time())),
    "random": told(lambda call, context: (random.random(), random.Random().random(), uuid.uuid4())),
    "sleep": told(sleeps),
    "print": prints,
    "error": fails,
    "input": lambda call, context: (_ for _ in ()).throw(BadInput("no such event")),
    "exit": lambda call, context: sys.exit("over"),
    "recursion": told(caught(deep)),
    "lazy": told(lazily),
    "socket": told(caught(opens_socket)),
    "file": told(caught(lambda: open("/etc/passwd"))),
    "thread": told(caught(starts_thread)),
    "program": told(caught(runs_program)),
    "state": told(keeps_state),
    "config": told(lambda call, context: (config.get()["greeting"], context.dialect, context.session_id, context.turn_id)),
    "raw": told(lambda call, context: event.raw()["extra"]),
    "http": told(asks),
    "llm": told(asks_model),
    "wrong": lambda call, context: "x",
    "misplaced": lambda call, context: block("x"),
    "surrogate": lambda call, context: deny("half a pair: \ud83d"),
    "rewrite": lambda call, context: allow("fine").with_input({**call.input, "command": "ls -l"}),
    "respond": lambda call, context: respond("for the model", for_user="for you", is_error=True, extra={"media": []}),
    "skip": lambda call, context: skip(),
    "input again": told(lambda call, context: (call.input, call.original_input, call.use_id)),
    "garbage": told(lambda call, context: len([[i] for i in range(5_000)])),
}


@on_user_prompt_submit
def prompt(event: UserPromptSubmitEvent):
    return block("no " + event.prompt).with_context("one").with_context("two").with_system_message("careful")


@on_post_tool_use
def after(call: ToolCall, output: ToolOutput):
    return block("redacted").with_output({**output.value, "stdout": "***"})


@on_post_tool_use_failure
def failed(call: ToolCall, failure: ToolFailure):
    return pass_().with_context(failure.error)


@on_permission_request
def permission(call: ToolCall):
    return deny("never").interrupting()


@on_session_start
def start():
    return pass_().with_env("A", "1").with_env("B", "2")


@on_stop
def stop(event: StopEvent):
    return None if event.stop_hook_active else block("go on")
