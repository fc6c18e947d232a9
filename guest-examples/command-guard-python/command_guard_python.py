"""Refuses shell commands that destroy files or devices, as command-guard does."""

from danger import find
from hookbox import ToolCall, deny, on_permission_request, on_pre_tool_use


@on_pre_tool_use
def guard(call: ToolCall):
    why = objection(call)
    return deny(why) if why else None


# The same gate where the user would be asked: under picoclaw `approve_tool` holds when a hook fails, `before_tool` does not.
@on_permission_request
def guard_permission(call: ToolCall):
    why = objection(call)
    return deny(why) if why else None


def objection(call: ToolCall) -> str | None:
    """Looks at `command`, whatever the tool is called (Bash, exec, …)."""
    command = call.input.get("command")
    why = find(command) if isinstance(command, str) else None
    return f"{why} is not allowed here" if why else None
