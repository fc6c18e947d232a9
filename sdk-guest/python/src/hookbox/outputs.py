"""Outputs of hooks: a decision, and the effects that every event has.

Each method returns a changed copy: ``deny("no").with_context("Read the rules first.")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self


@dataclass(frozen=True, kw_only=True)
class Output:
    """The output of a hook. Created by `pass_`, `deny` and similar functions."""

    decision: ClassVar[str] = "pass"

    reason: str | None = None
    """The reason of the decision."""
    context: str | None = None
    """Text added to the model's context. claude, blade: ``additionalContext``; blade prompts: ``contextInjection``."""
    system_message: str | None = None
    """Under claude injected into the conversation; codebuddy, blade: a warning for the user."""
    suppress_output: bool = False
    """Keep this hook's output out of the transcript. claude, codebuddy, blade."""
    halt: Literal["turn", "session"] | None = None
    """End the turn or the session; the reason is shown to the user."""
    halt_reason: str | None = None
    extra: Mapping[str, Any] | None = None
    """An object merged into the dialect's output, for fields that hookbox does not know."""
    updates: Mapping[str, Any] = field(default_factory=dict)
    """New values, by the contract's names, such as ``updated_input``."""

    def __post_init__(self) -> None:
        # Check here, while the author's line is still on the stack.
        for name in self._TEXTS:
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{name} is {type(text).__name__}, not text: {text!r}")

    _TEXTS: ClassVar[tuple[str, ...]] = ("reason", "context", "system_message", "halt_reason")

    def with_context(self, text: str) -> Self:
        """Adds text to the model's context; a second text starts a new line."""
        return replace(self, context=_line(self.context, text))

    def with_system_message(self, text: str) -> Self:
        """Warns the user; a second text starts a new line."""
        return replace(self, system_message=_line(self.system_message, text))

    def suppressed(self) -> Self:
        """Keeps this hook's output out of the transcript."""
        return replace(self, suppress_output=True)

    def end_turn(self, reason: str | None = None) -> Self:
        """Ends the turn, regardless of other hooks. The reason is shown to the user."""
        return replace(self, halt="turn", halt_reason=reason)

    def end_session(self, reason: str | None = None) -> Self:
        """Ends the session, regardless of other hooks. The reason is shown to the user."""
        return replace(self, halt="session", halt_reason=reason)

    def with_extra(self, extra: Mapping[str, Any]) -> Self:
        """Merges an object into the dialect's output, for fields that hookbox does not know. The host drops and reports
        keys that it knows."""
        return replace(self, extra=extra)

    def with_input(self, value: Any) -> Self:
        """Replaces the tool's whole input: ``{**call.input, "timeout": 60}`` changes one value. Pre tool use,
        permission request, can use tool."""
        return self._update("updated_input", value)

    def with_tool(self, name: str) -> Self:
        """Runs another tool instead. Pre tool use; picoclaw."""
        return self._update("updated_tool", name)

    def with_output(self, value: Any) -> Self:
        """Replaces the whole output that the model reads. Post tool use."""
        return self._update("updated_output", value)

    def with_prompt(self, text: str) -> Self:
        """Replaces the prompt. User prompt submit."""
        return self._update("updated_prompt", text)

    def with_request(self, value: Any) -> Self:
        """Replaces the request to the model. Members left out keep their value. Before llm."""
        return self._update("updated_request", value)

    def with_response(self, value: Any) -> Self:
        """Replaces the response of the model. Members left out keep their value. After llm."""
        return self._update("updated_response", value)

    def with_env(self, name: str, value: str) -> Self:
        """Sets an environment variable for the whole session. Session start."""
        return self._update("env", [*self.updates.get("env", []), (name, value)])

    def _update(self, name: str, value: Any) -> Self:
        return replace(self, updates={**self.updates, name: value})


class Pass(Output):
    """No decision."""


class Allow(Output):
    """Continues without asking the user."""

    decision = "allow"

    def with_permissions(self, updates: Any) -> Self:
        """Permission updates to apply. Permission request; claude."""
        return self._update("updated_permissions", updates)


class Ask(Output):
    """Asks the user."""

    decision = "ask"


@dataclass(frozen=True, kw_only=True)
class Deny(Output):
    """Stops the tool or the permission."""

    decision: ClassVar[str] = "deny"
    interrupt: bool = False
    """Also ends the turn. Permission request, can use tool; claude, blade-callback."""

    def interrupting(self) -> Self:
        """Also ends the turn. Permission request, can use tool; claude, blade-callback."""
        return replace(self, interrupt=True)


class Skip(Output):
    """Skips this call and continues."""

    decision = "skip"


@dataclass(frozen=True, kw_only=True)
class Respond(Output):
    """Skips the tool and returns this result instead."""

    decision: ClassVar[str] = "respond"
    for_llm: str = ""
    """What the model reads."""
    for_user: str | None = None
    """What the user reads, when it differs."""
    silent: bool = False
    """Hides the response from the user."""
    is_error: bool = False
    _TEXTS = (*Output._TEXTS, "for_llm", "for_user")
    result_extra: Mapping[str, Any] | None = None
    """Further fields of the dialect's own result. picoclaw: ``media``, ``artifact_tags``, ``async``, ``response_handled``."""


class Block(Output):
    """Blocks the event. On stop events this means "keep going"."""

    decision = "block"


def pass_() -> Pass:
    """No decision: the client continues as if there were no hook. Equivalent to returning `None`, but it can be
    refined."""
    return Pass()


def allow(reason: str | None = None) -> Allow:
    """Lets the tool run without asking the user. A hook needs the authority for it."""
    return Allow(reason=reason)


def ask(reason: str | None = None) -> Ask:
    """Asks the user."""
    return Ask(reason=reason)


def deny(reason: str | None = None) -> Deny:
    """Stops the tool. The model gets the reason."""
    return Deny(reason=reason)


def skip(reason: str | None = None) -> Skip:
    """Skips this tool call and continues. It is a deny if the client cannot skip."""
    return Skip(reason=reason)


def respond(
    for_llm: str,
    *,
    for_user: str | None = None,
    silent: bool = False,
    is_error: bool = False,
    extra: Mapping[str, Any] | None = None,
) -> Respond:
    """Skips the tool and returns this result in its place. It is a deny with the text if the client does not support
    it."""
    return Respond(for_llm=for_llm, for_user=for_user, silent=silent, is_error=is_error, result_extra=extra)


def block(reason: str | None = None) -> Block:
    """Blocks the event. On stop events this means "keep going", and the agent gets the reason."""
    return Block(reason=reason)


def _line(text: str | None, line: str) -> str:
    return line if text is None else f"{text}\n{line}"
