"""A hook set as an interceptor of agent-hooks 0.1, the control contract of the Microsoft Agent Framework and others.

    agent = Agent(client=client, tools=tools, middleware=[create_agent_hooks_middleware({"hookbox": interceptor(hooks)})])

The configuration's dialect is ``claude``. Interception points are its events:

=================  ===================================================================
``agent_startup``  ``SessionStart``
``input``          ``UserPromptSubmit``
``pre_tool_call``  ``PreToolUse``
``post_tool_call`` ``PostToolUse``; ``PostToolUseFailure`` if the tool failed
``agent_shutdown`` ``SessionEnd``
=================  ===================================================================

Other points have no event and are allowed. A rewrite is a ``transform``. An ``ask`` is a ``deny`` that an approval resolver may
lift. A ``continue: false`` ends the run. The host of agent-hooks gives an interceptor 5 seconds by default, and denies after that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from agent_hooks import Decision, Interceptor, Transform, Verdict

from .. import HookboxError, HookSet, Response
from ._tools import require_dialect, text, tool_event, warn_of_others

EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd")
"""The events that have an interception point."""


class _Interceptor:
    """Runs the hooks of a set at the interception points of an agent."""

    def __init__(self, hooks: HookSet, timeout: float | None) -> None:
        self._hooks = hooks
        self._timeout = timeout

    async def intercept(self, context: Mapping[str, Any], /) -> Verdict:
        """Returns the verdict of the hooks at this point."""
        event = _event(context)
        if event is None:
            return Verdict.allow()
        session = context.get("session", {}).get("id")
        about = {"cwd": os.getcwd(), **event} if session is None else {"cwd": os.getcwd(), "session_id": session, **event}
        response = await self._hooks.decide(about, timeout=self._timeout, body_only=True)
        return _verdict(response, "$target.content" if context["interception_point"] == "input" else "$target")


def interceptor(hooks: HookSet, *, timeout: float | None = None) -> Interceptor:
    """Makes a hook set an interceptor. ``timeout`` is in seconds; the host of agent-hooks has a timeout of its own."""
    require_dialect(hooks, "claude")
    warn_of_others(hooks, EVENTS)
    # The protocol of agent-hooks also accepts coroutines, but its type does not say so.
    return cast(Interceptor, _Interceptor(hooks, timeout))


def _event(context: Mapping[str, Any]) -> dict[str, Any] | None:
    """The event of this point, if there is one."""
    point = context["interception_point"]
    if point == "agent_startup":
        return {"hook_event_name": "SessionStart", "source": "startup"}
    if point == "input":
        return {"hook_event_name": "UserPromptSubmit", "prompt": text(context["input"]["content"])}
    if point == "agent_shutdown":
        return {"hook_event_name": "SessionEnd", "reason": "other"}
    if point not in ("pre_tool_call", "post_tool_call"):
        return None
    call = context["tool_call"]
    about = (call["name"], call.get("args"), call.get("id"))
    if point == "pre_tool_call":
        return tool_event("PreToolUse", *about)
    result = context["tool_result"]
    if result.get("is_error"):
        return tool_event("PostToolUseFailure", *about, error=text(result.get("value")))
    return tool_event("PostToolUse", *about, tool_response=result.get("value"))


def _verdict(response: Response, target: str) -> Verdict:
    if response.outcome == "stop":
        # An interceptor that fails ends the run; a `deny` would only end the call.
        raise HookboxError("unsupported", f"a hook ends the run: {response.refusal}")
    if response.replacement:
        return Verdict(decision=Decision.TRANSFORM, transform=Transform(target, response.replacement[0]))
    if response.outcome in ("ask", "defer"):
        return Verdict.escalate(reason="hookbox", message=response.undelivered)
    if response.refusal is not None:
        return Verdict.deny(reason="hookbox", message=response.refusal)
    return Verdict.allow()
