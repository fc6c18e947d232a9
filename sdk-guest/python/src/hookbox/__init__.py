"""Write hookbox hooks in Python: a function per event.

    from hookbox import ToolCall, deny, on_pre_tool_use

    @on_pre_tool_use
    def guard(call: ToolCall):
        if "rm -rf" in call.input.get("command", ""):
            return deny("`rm -rf` is not allowed here")

The host calls a hook for the events that it has functions for. A hook requests a capability (``hookbox.state``,
``hookbox.http``, ``hookbox.llm``) by importing it. ``hookbox.log``, ``hookbox.config`` and ``hookbox.event`` are always
granted. ``hookbox.testing`` simulates a host for tests.

An uncaught exception is a failure of the hook with its message. It is never an output.
"""

from . import events
from ._input import nearest
from .events import *  # noqa: F403
from .faults import BadInput
from .outputs import (
    Allow,
    Ask,
    Block,
    Deny,
    Output,
    Pass,
    Respond,
    Skip,
    allow,
    ask,
    block,
    deny,
    pass_,
    respond,
    skip,
)

__version__ = "0.1.0"

__all__ = [
    "Allow",
    "Ask",
    "BadInput",
    "Block",
    "Deny",
    "Output",
    "Pass",
    "Respond",
    "Skip",
    "allow",
    "ask",
    "block",
    "deny",
    "pass_",
    "respond",
    "skip",
]
# Type checkers accept this form.
__all__ += events.__all__


_MODULES = ("config", "event", "events", "faults", "http", "llm", "log", "outputs", "state", "testing")


def __getattr__(name: str) -> object:
    near = None if name.startswith("_") or name in _MODULES else nearest(name, [*__all__, *_MODULES])
    if near:
        # An AttributeError would lose its message in `from hookbox import ...`.
        raise ImportError(f"hookbox has no `{name}`; did you mean `{near}`?")
    raise AttributeError(f"hookbox has no `{name}`")
