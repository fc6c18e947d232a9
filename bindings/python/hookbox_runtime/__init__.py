"""Run AI agent hooks as sandboxed WebAssembly components, in this process.

    from hookbox_runtime import Runtime

    async with Runtime.open() as runtime:
        hooks = await runtime.load("hooks.json")
        response = await hooks.decide(event)

Every method that waits has a twin that ends in ``_sync``. None of them holds the GIL while hooks run.
"""

from . import _interpreter as _  # Before the native part, which a subinterpreter must not load.
from ._errors import Code, HookboxError
from ._hook import Hook, HookFunction, hook
from ._native import Response
from ._runtime import HookSet, Runtime
from ._types import Authority, Ceiling, Event, Finding, Mode, Policy, Report

__all__ = [
    "Authority",
    "Ceiling",
    "Code",
    "Event",
    "Finding",
    "Hook",
    "HookFunction",
    "HookSet",
    "HookboxError",
    "Mode",
    "Policy",
    "Report",
    "Response",
    "Runtime",
    "hook",
]
