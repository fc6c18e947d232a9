"""Errors of this package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ._types import Finding

Code = Literal[
    "options", "config", "hook", "event", "closed", "forked", "compiler", "unsupported", "system"
]
"""The kind of an error, which stays the same from version to version."""


class HookboxError(Exception):
    """An error of hookbox. What hooks do wrong is never one: it is settled in a ``Response``."""

    code: Code
    """The kind."""
    message: str
    """What happened, where, and what to do."""
    diagnostics: list[Finding]
    """Everything that is wrong with the configuration, where the error is about one."""

    def __init__(self, code: Code, message: str, details: str = "{}") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.diagnostics = json.loads(details).get("diagnostics", [])

    def __reduce__(self) -> tuple[type[HookboxError], tuple[str, str, str]]:
        return type(self), (self.code, self.message, json.dumps({"diagnostics": self.diagnostics}))
