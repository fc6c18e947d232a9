"""Tool calls as events, for SDKs that run tools in this process."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection
from typing import Any

from .. import HookboxError, HookSet

log = logging.getLogger("hookbox_runtime")


def require_dialect(hooks: HookSet, dialect: str) -> None:
    """Raises unless the hook set's configuration is of this dialect, in any profile: its events could not be read."""
    if hooks.dialect.split("@")[0] != dialect:
        message = f"this adapter needs a configuration of the dialect {dialect}, not {hooks.dialect}: load it with that `dialect`"
        raise HookboxError("options", message)


def warn_of_others(hooks: HookSet, asked: Collection[str]) -> None:
    """Warns about hooks of events that the SDK does not have."""
    others = [event for event in hooks.events if event not in asked]
    if others:
        log.warning("hookbox: this SDK has no event for %s: their hooks do not run", ", ".join(others))


def tool_event(name: str, tool: str, tool_input: Any, call_id: str | None, **fields: Any) -> dict[str, Any]:
    """A tool call as an event of the dialect ``claude``. Hooks read an object as input; anything else reaches them as text."""
    if not isinstance(tool_input, dict):
        tool_input = {"arguments": tool_input if isinstance(tool_input, str) else json.dumps(plain(tool_input))}
    event = {"hook_event_name": name, "cwd": os.getcwd(), "tool_name": tool, "tool_input": tool_input, **fields}
    return event if call_id is None else {**event, "tool_use_id": call_id}


def plain(value: Any) -> Any:
    """The value as JSON has it; text of anything that JSON does not have."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return str(value)


def text(value: Any) -> str:
    """The value as a model reads it."""
    return value if isinstance(value, str) else json.dumps(value)

