"""Questions to the host's language model, within the hook's budget. Importing this module asks for it; the configuration
grants it."""

from __future__ import annotations

from dataclasses import dataclass

from . import _host


class Error(Exception):
    """A question that was not answered."""


class BudgetError(Error):
    """The hook's calls or tokens are used up."""


class TimeoutError(Error):
    """The hook's deadline came first."""


class FailedError(Error):
    """The model could not be asked."""


@dataclass(frozen=True)
class Prompt:
    """A question."""

    user: str
    system: str | None = None
    model: str | None = None
    """The configured one when it is left out."""
    max_tokens: int | None = None
    """Tokens of the answer at most."""


def complete(
    user: str, *, system: str | None = None, model: str | None = None, max_tokens: int | None = None
) -> str:
    """Asks and waits for the answer."""
    answer: str = _host.call("llm", "complete", Prompt(user, system, model, max_tokens))
    return answer
