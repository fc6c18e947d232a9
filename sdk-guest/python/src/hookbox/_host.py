"""The way to the host's functions: in a component those of the contract, in a test those of `hookbox.testing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Call = Callable[..., Any]

_calls: list[Callable[[str, str], Call]] = []
"""Who answers calls; the last counts."""


def call(interface: str, function: str, *arguments: Any) -> Any:
    """Calls a function of the contract, such as ``state``, ``get``."""
    if not _calls:
        raise RuntimeError(
            f"there is no host to ask for {interface}.{function}: call it in the handler; in a test, "
            "`with hookbox.testing.Host():`"
        )
    return _calls[-1](interface, function)(*arguments)


def is_there() -> bool:
    """Whether something runs that can be asked."""
    return bool(_calls)


def answer(calls: Callable[[str, str], Call]) -> None:
    """From now on calls go there."""
    _calls.append(calls)


def no_more() -> None:
    """Whoever answered last does so no more."""
    _calls.pop()
