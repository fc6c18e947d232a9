"""A hook set in the OpenAI Agents SDK for Python: guardrails of its tools.

    @function_tool(tool_input_guardrails=[input_guardrail(hooks)], tool_output_guardrails=[output_guardrail(hooks)])
    def run(command: str) -> str: ...

The configuration's dialect is ``claude``: a tool call is its ``PreToolUse``, a result its ``PostToolUse``. A guardrail can let
a call go on, give the model a message in its place, or end the run. It can neither ask a user nor rewrite, so that both are
denials here.
"""

from __future__ import annotations

import json
from typing import Any

from agents import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)

from .. import HookSet, Response


def input_guardrail(hooks: HookSet, *, timeout: float | None = None) -> ToolInputGuardrail[Any]:
    """Asks the hooks of ``PreToolUse`` before the tool runs."""

    async def hookbox(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        response = await hooks.decide(_event("PreToolUse", data), timeout=timeout, body_only=True)
        return _guard(response)

    return ToolInputGuardrail(hookbox)


def output_guardrail(hooks: HookSet, *, timeout: float | None = None) -> ToolOutputGuardrail[Any]:
    """Asks the hooks of ``PostToolUse`` about the tool's result."""

    async def hookbox(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        event = {**_event("PostToolUse", data), "tool_response": _plain(data.output)}
        return _guard(await hooks.decide(event, timeout=timeout, body_only=True))

    return ToolOutputGuardrail(hookbox)


def _event(name: str, data: ToolInputGuardrailData) -> dict[str, Any]:
    arguments = data.context.tool_arguments
    try:
        tool_input = json.loads(arguments) if arguments else {}
    except ValueError:
        tool_input = None
    # Hooks read an object; anything else reaches them as text.
    if not isinstance(tool_input, dict):
        tool_input = {"arguments": arguments}
    return {
        "hook_event_name": name,
        "tool_name": data.context.tool_name,
        "tool_input": tool_input,
        "tool_use_id": data.context.tool_call_id,
    }


def _plain(output: Any) -> Any:
    try:
        return json.loads(json.dumps(output))
    except (TypeError, ValueError):
        return str(output)


def _guard(response: Response) -> ToolGuardrailFunctionOutput:
    if response.outcome == "stop":
        return ToolGuardrailFunctionOutput.raise_exception(response.report)
    if not response.restricts:
        return ToolGuardrailFunctionOutput.allow(response.report)
    return ToolGuardrailFunctionOutput.reject_content(_reason(response), response.report)


def _reason(response: Response) -> str:
    if response.outcome == "ask":
        return f"this call needs a person's approval, which cannot be given here: {response.undelivered}"
    if response.blocks:
        return response.undelivered or "denied by a hook"
    return "a hook rewrites this call, which cannot be done here"
