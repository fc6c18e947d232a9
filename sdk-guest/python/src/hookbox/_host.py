"""Access to the host's functions: those of the contract in a component, those of `hookbox.testing` in a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Call = Callable[..., Any]

_calls: list[Callable[[str, str], Call]] = []
"""Functions that answer calls. The last one is used."""


def call(interface: str, function: str, *arguments: Any) -> Any:
    """Calls a function of the contract, such as ``state``, ``get``."""
    if not _calls:
        raise RuntimeError(
            f"there is no host to ask for {interface}.{function}: call it in the handler; in a test, "
            "`with hookbox.testing.Host():`"
        )
    return _calls[-1](interface, function)(*arguments)


def is_there() -> bool:
    """Returns true if there is a host."""
    return bool(_calls)


def answer(calls: Callable[[str, str], Call]) -> None:
    """Sends all calls to this function from now on."""
    _calls.append(calls)


def no_more() -> None:
    """Removes the function that was added last."""
    _calls.pop()
