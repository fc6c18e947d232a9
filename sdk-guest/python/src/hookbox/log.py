"""Log messages for the operator. They are never part of the protocol. Always granted, up to the ``logKiB`` limit.

Printed text is logged too: ``sys.stdout`` as info, ``sys.stderr`` as warn, and the records of `logging` with their
level.
"""

from __future__ import annotations

import sys

from . import _host

_LEVELS = ("debug", "info", "warn", "error")


def debug(message: object) -> None:
    """Logs a message for the author of the hook."""
    _log("debug", message)


def info(message: object) -> None:
    """Logs what the hook did."""
    _log("info", message)


def warn(message: object) -> None:
    """Logs a problem that does not stop the hook."""
    _log("warn", message)


def error(message: object) -> None:
    """Logs a failure."""
    _log("error", message)


def _log(level: str, message: object) -> None:
    if _host.is_there():
        _host.call("log", "log", level, str(message))
    else:
        sys.__stderr__ and print(f"{level}: {message}", file=sys.__stderr__)
