"""A hook set in the OpenAI Agents SDK for Python: guardrails of its tools.

    @function_tool(tool_input_guardrails=[input_guardrail(hooks)], tool_output_guardrails=[output_guardrail(hooks)])
    def run(command: str) -> str: ...

The configuration's dialect is ``claude``: a tool call is its ``PreToolUse``, a result its ``PostToolUse``. A guardrail can let
a call go on, give the model a message in its place, or end the run. It cannot ask a user or rewrite the input of a call: both
are denials.
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
from ._tools import plain, require_dialect, text, tool_event


def input_guardrail(hooks: HookSet, *, timeout: float | None = None) -> ToolInputGuardrail[Any]:
    """Runs the hooks of ``PreToolUse`` before the tool."""
    require_dialect(hooks, "claude")

    async def hookbox(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        response = await hooks.decide(_event("PreToolUse", data), timeout=timeout, body_only=True)
        return _guard(response, response.refusal)

    return ToolInputGuardrail(hookbox)


def output_guardrail(hooks: HookSet, *, timeout: float | None = None) -> ToolOutputGuardrail[Any]:
    """Runs the hooks of ``PostToolUse`` on the tool's result."""
    require_dialect(hooks, "claude")

    async def hookbox(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        event = _event("PostToolUse", data, tool_response=plain(data.output))
        response = await hooks.decide(event, timeout=timeout, body_only=True)
        replacement = response.replacement
        return _guard(response, text(replacement[0]) if replacement else response.refusal)

    return ToolOutputGuardrail(hookbox)


def _event(name: str, data: ToolInputGuardrailData, **fields: Any) -> dict[str, Any]:
    arguments = data.context.tool_arguments
    try:
        tool_input = json.loads(arguments) if arguments else {}
    except ValueError:
        tool_input = arguments
    return tool_event(name, data.context.tool_name, tool_input, data.context.tool_call_id, **fields)


def _guard(response: Response, message: str | None) -> ToolGuardrailFunctionOutput:
    """Lets the call go on, or gives the model ``message`` in its place."""
    if response.outcome == "stop":
        return ToolGuardrailFunctionOutput.raise_exception(response.report)
    if message is None:
        return ToolGuardrailFunctionOutput.allow(response.report)
    return ToolGuardrailFunctionOutput.reject_content(message, response.report)
