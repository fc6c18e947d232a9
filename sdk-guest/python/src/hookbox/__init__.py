"""Write hookbox hooks in Python: a function per event.

    from hookbox import ToolCall, deny, on_pre_tool_use

    @on_pre_tool_use
    def guard(call: ToolCall):
        if "rm -rf" in call.input.get("command", ""):
            return deny("`rm -rf` is not allowed here")

The events that a hook has a function for are those it is called for. The capabilities that it imports (``hookbox.state``,
``hookbox.http``, ``hookbox.llm``) are those it asks for; ``hookbox.log``, ``hookbox.config`` and ``hookbox.event`` everybody
has. ``hookbox.testing`` pretends a host for tests.

An uncaught exception is the hook's failure, with its message; it is never an output.
"""

from . import events
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
