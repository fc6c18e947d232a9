"""Registration of the functions that handle events, and checks of their return values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from .outputs import Output, Pass, Respond

Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True)
class Spec:
    """The contract's definition of an event."""

    name: str
    """The interface, for example ``pre-tool-use``."""
    arguments: tuple[tuple[str, Any], ...]
    """Names and types of the handler's arguments; `None` means JSON."""
    decisions: tuple[str, ...]
    """Decisions that the event supports."""
    updates: tuple[str, ...]
    """Values that the handler can replace."""
    answers: str
    """``output``, ``effects``, ``json`` or ``nothing``."""

    @property
    def decorator(self) -> str:
        return "on_" + self.name.replace("-", "_")


@dataclass(frozen=True)
class Subscription:
    spec: Spec
    handler: Callable[..., Any]
    """The author's function, with a check of its return value."""
    takes: int
    """Number of arguments that the function takes."""


SUBSCRIPTIONS: dict[str, Subscription] = {}
"""Handlers by interface."""


def subscribe(spec: Spec, handler: Handler) -> Handler:
    """Registers a function as the handler of an event. Its return value is checked, in tests too."""
    name = getattr(handler, "__name__", "the handler")
    if spec.name in SUBSCRIPTIONS:
        raise TypeError(f"@{spec.decorator} is used twice: a hook has one handler per event")
    if inspect.iscoroutinefunction(handler) or inspect.isgeneratorfunction(handler):
        raise TypeError(f"@{spec.decorator}: {name} has to be a plain function, without async or yield")

    @functools.wraps(handler)
    def checked(*arguments: Any, **named: Any) -> Any:
        return _check(spec, handler, handler(*arguments, **named))

    SUBSCRIPTIONS[spec.name] = Subscription(spec, checked, _takes(spec, handler, name))
    return checked  # type: ignore[return-value]


def _takes(spec: Spec, handler: Callable[..., Any], name: str) -> int:
    """Returns the number of arguments that a handler takes. It may leave out trailing arguments."""
    names = ", ".join(argument for argument, _ in spec.arguments)
    least, most = 0, 0
    for parameter in inspect.signature(handler).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = len(spec.arguments)
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            most += 1
            least += parameter.default is parameter.empty
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            least = len(spec.arguments) + 1
    if least > len(spec.arguments):
        raise TypeError(f"@{spec.decorator}: {name} is called with ({names}), and asks for more")
    return min(most, len(spec.arguments))


def _check(spec: Spec, handler: Callable[..., Any], output: Any) -> Any:
    def wrong(why: str) -> TypeError:
        code = getattr(handler, "__code__", None)
        place = f" ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})" if code else ""
        return TypeError(f"@{spec.decorator}{place}: {why}")

    if output is None:
        return output
    if spec.answers == "nothing":
        raise wrong(f"it returned {output!r}, and this event has no answer")
    if spec.answers == "json":
        if not isinstance(output, dict):
            raise wrong(f"it returned {type(output).__name__}; return a dict in the dialect's own format, or nothing")
        return output
    if not isinstance(output, Output):
        raise wrong(f"it returned {type(output).__name__}; return {_words(spec)}, or nothing")
    if not isinstance(output, Pass) and output.decision not in spec.decisions:
        raise wrong(f"`{output.decision}` does not answer it; return {_words(spec)}, or nothing")
    for update in output.updates:
        if update not in spec.updates:
            raise wrong(f"`{update}` does not go with it")
    if getattr(output, "interrupt", False) and spec.name == "pre-tool-use":
        raise wrong("`interrupt` goes with the `deny` of a permission; any event can `end_turn`")
    if isinstance(output, Respond) and not isinstance(output.for_llm, str):
        raise wrong("`respond` takes the text that the model reads")
    return output


def _words(spec: Spec) -> str:
    words = ["pass_" if word == "pass" else word for word in spec.decisions or ("pass",)]
    return " or ".join(filter(None, [", ".join(f"{word}(…)" for word in words[:-1]), f"{words[-1]}(…)"]))
