"""A hook set in the Claude Agent SDK for Python.

    options = ClaudeAgentOptions(hooks=claude_hooks(hooks))

The configuration's dialect is ``claude``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from claude_agent_sdk import CanUseTool, HookCallback, HookMatcher, PermissionResultAllow, PermissionResultDeny
from claude_agent_sdk.types import (
    HookEvent,
    PermissionResult,
    PermissionRuleValue,
    PermissionUpdate,
    ToolPermissionContext,
)

from .. import HookboxError, HookSet, Response
from ._tools import log, require_dialect

TIMEOUT = 60.0
"""Seconds that the SDK gives its hooks by default."""


def claude_hooks(hooks: HookSet, *, timeout: float = TIMEOUT) -> dict[HookEvent, list[HookMatcher]]:
    """``hooks`` of ``ClaudeAgentOptions``: every event that has a hook.

    Matchers stay in the configuration. A hook set that is closed blocks, except on ``Stop``, ``SubagentStop``,
    ``TaskCompleted`` and ``TeammateIdle``, where the SDK ignores failures.
    """
    require_dialect(hooks, "claude")

    async def decide(event: Any, tool_use_id: str | None, context: Any) -> Any:
        return _output(await hooks.decide(event, timeout=timeout, body_only=True))

    matcher = HookMatcher(hooks=[cast(HookCallback, decide)], timeout=timeout, on_failure="block")
    return {cast(HookEvent, event): [matcher] for event in hooks.events if event != "canUseTool"}


def claude_can_use_tool(
    hooks: HookSet, *, otherwise: CanUseTool | None = None, timeout: float = TIMEOUT
) -> CanUseTool:
    """``can_use_tool`` of ``ClaudeAgentOptions``: the hooks of ``PermissionRequest`` decide.

    If none of them does, ``otherwise`` decides; without it the call is denied. The SDK also runs the hooks of
    ``PermissionRequest`` that are among its ``hooks``: use only one of both.
    """
    require_dialect(hooks, "claude")

    async def can_use_tool(
        tool_name: str, tool_input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResult:
        event = {
            "hook_event_name": "PermissionRequest",
            "tool_name": tool_name,
            "tool_input": tool_input,
            "tool_use_id": context.tool_use_id,
            "permission_suggestions": [update.to_dict() for update in context.suggestions],
        }
        if context.agent_id is not None:
            event["agent_id"] = context.agent_id
        response = await hooks.decide(event, timeout=timeout, body_only=True)
        decision = _output(response).get("hookSpecificOutput", {}).get("decision", {})
        if response.blocks:
            message = decision.get("message") or response.refusal or "denied by a hook"
            interrupt = bool(decision.get("interrupt", response.outcome == "stop"))
            return PermissionResultDeny(message=message, interrupt=interrupt)
        if decision.get("behavior") == "allow":
            updates = decision.get("updatedPermissions")
            return PermissionResultAllow(
                updated_input=decision.get("updatedInput"),
                updated_permissions=None if updates is None else [_update(update) for update in updates],
            )
        if otherwise is not None:
            return await otherwise(tool_name, tool_input, context)
        return PermissionResultDeny(message="no hook allows this call")

    return can_use_tool


def _output(response: Response) -> Mapping[str, Any]:
    """The output for the SDK. An error of hookbox itself that does not block is logged."""
    if response.error is not None:
        log.warning("hookbox: %s", response.error[1])
    output = response.output
    if isinstance(output, dict):
        return output
    if response.restricts:
        raise HookboxError("unsupported", response.undelivered or "the verdict cannot be given to the client")
    return {}


def _update(update: Mapping[str, Any]) -> PermissionUpdate:
    rules = update.get("rules")
    return PermissionUpdate(
        type=update["type"],
        rules=None if rules is None else [PermissionRuleValue(rule["toolName"], rule.get("ruleContent")) for rule in rules],
        behavior=update.get("behavior"),
        mode=update.get("mode"),
        directories=update.get("directories"),
        destination=update.get("destination"),
    )
