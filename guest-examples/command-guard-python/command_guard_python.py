"""Refuses shell commands that destroy files or devices, as command-guard does."""

from danger import find
from hookbox import ToolCall, deny, on_permission_request, on_pre_tool_use


@on_pre_tool_use
def guard(call: ToolCall):
    why = objection(call)
    return deny(why) if why else None


# The same check for permission requests. Under picoclaw a failing hook denies in `approve_tool` but not in
# `before_tool`.
@on_permission_request
def guard_permission(call: ToolCall):
    why = objection(call)
    return deny(why) if why else None


def objection(call: ToolCall) -> str | None:
    """Checks the string `command` of any tool (Bash, exec, …)."""
    command = call.input.get("command")
    why = find(command) if isinstance(command, str) else None
    return f"{why} is not allowed here" if why else None
