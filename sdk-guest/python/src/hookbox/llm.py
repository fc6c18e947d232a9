"""Requests to the host's language model, within the hook's budget. Importing this module requests the capability; the
configuration grants it."""

from __future__ import annotations

from dataclasses import dataclass

from . import _host


class Error(Exception):
    """A failed request."""


class BudgetError(Error):
    """The hook has used up its calls or tokens."""


class TimeoutError(Error):
    """The hook's deadline passed."""


class FailedError(Error):
    """The request could not be sent."""


@dataclass(frozen=True)
class Prompt:
    """A request to the model."""

    user: str
    system: str | None = None
    model: str | None = None
    """Default: the configured model."""
    max_tokens: int | None = None
    """Maximum number of tokens in the answer."""


def complete(
    user: str, *, system: str | None = None, model: str | None = None, max_tokens: int | None = None
) -> str:
    """Sends the request and waits for the answer."""
    answer: str = _host.call("llm", "complete", Prompt(user, system, model, max_tokens))
    return answer
