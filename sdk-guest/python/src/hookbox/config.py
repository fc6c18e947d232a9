"""The hook's own ``config`` object from the configuration file. Always granted."""

from __future__ import annotations

import json
from typing import Any

from . import _host


def get() -> dict[str, Any]:
    """The whole object, or ``{}`` if the configuration has none."""
    config: dict[str, Any] = json.loads(_host.call("config", "get"))
    return config
