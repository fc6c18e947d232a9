"""The event as the client sent it. Always granted."""

from __future__ import annotations

import json
from typing import Any

from . import _host


def raw() -> dict[str, Any]:
    """The whole event. If the dialect chains hooks, the rewrites of earlier hooks are applied."""
    event: dict[str, Any] = json.loads(_host.call("event", "raw"))
    return event
