"""A hook set in Pydantic AI: a capability that guards the tools of an agent.

    agent = Agent(model, capabilities=[guard(hooks)])

The configuration's dialect is ``claude``: a tool call is its ``PreToolUse``, a result its ``PostToolUse``. The tool runs with a
rewritten input, after validation, and the model reads a rewritten result. A denial is a failure of the tool, which the model
reads. An ``ask`` is a denial too, unless ``approval`` is given. A ``continue: false`` ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from .. import HookboxError, HookSet, Response
from ._tools import require_dialect, tool_event, warn_of_others


def guard(hooks: HookSet, *, approval: bool = False, timeout: float | None = None) -> AbstractCapability[Any]:
    """A capability that runs the hooks before and after each tool of the agent.

    With ``approval``, an ``ask`` of a hook defers the call, as a tool does that requires approval: the agent's output type must
    include ``DeferredToolRequests``. Tools that the model's provider runs are not guarded.
    """
    require_dialect(hooks, "claude")
    warn_of_others(hooks, ["PreToolUse", "PostToolUse"])
    return _Guard(hooks, approval, timeout)


@dataclass
class _Guard(AbstractCapability[Any]):
    hooks: HookSet
    approval: bool
    timeout: float | None

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Toolset(toolset, self.hooks, self.approval, self.timeout)


@dataclass
class _Toolset(WrapperToolset[Any]):
    hooks: HookSet
    approval: bool
    timeout: float | None

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        before = await self._decide("PreToolUse", name, tool_args, ctx)
        if before.outcome == "ask" and self.approval:
            if not ctx.tool_call_approved:
                raise ApprovalRequired({"reason": before.undelivered})
        elif before.replacement:
            tool_args = tool.args_validator.validate_python(before.replacement[0])
        else:
            _obey(before)
        result = await super().call_tool(name, tool_args, ctx, tool)
        response = to_jsonable_python(result, fallback=str)
        after = await self._decide("PostToolUse", name, tool_args, ctx, tool_response=response)
        if after.replacement:
            return after.replacement[0]
        _obey(after)
        return result

    async def _decide(
        self, event: str, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], **fields: Any
    ) -> Response:
        arguments = to_jsonable_python(tool_args, fallback=str)
        about = tool_event(event, name, arguments, ctx.tool_call_id, **fields)
        return await self.hooks.decide(about, timeout=self.timeout, body_only=True)


def _obey(response: Response) -> None:
    if response.outcome == "stop":
        raise HookboxError("unsupported", f"a hook ends the run: {response.refusal}")
    if response.refusal is not None:
        raise ToolFailed(response.refusal)
