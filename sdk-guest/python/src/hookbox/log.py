"""Messages for whoever runs the hook. They are never part of the protocol, always granted, and capped in volume.

What is printed goes there too, as info, what goes to ``sys.stderr`` as warn, and the records of `logging` with their level.
"""

from __future__ import annotations

import sys

from . import _host

_LEVELS = ("debug", "info", "warn", "error")


def debug(message: object) -> None:
    """For whoever debugs the hook."""
    _log("debug", message)


def info(message: object) -> None:
    """For whoever wants to know what the hook did."""
    _log("info", message)


def warn(message: object) -> None:
    """Something is not as it should be, and the hook goes on."""
    _log("warn", message)


def error(message: object) -> None:
    """Something is broken."""
    _log("error", message)


def _log(level: str, message: object) -> None:
    if _host.is_there():
        _host.call("log", "log", level, str(message))
    else:
        sys.__stderr__ and print(f"{level}: {message}", file=sys.__stderr__)
