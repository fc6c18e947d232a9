"""The event as the client sent it. Always granted."""

from __future__ import annotations

import json
from typing import Any

from . import _host


def raw() -> dict[str, Any]:
    """The whole event, with the rewrites of earlier hooks where the dialect chains."""
    event: dict[str, Any] = json.loads(_host.call("event", "raw"))
    return event
