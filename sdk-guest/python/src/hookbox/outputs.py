"""What a hook answers: one of the words, refined by what may be said beside it.

Each method returns a changed copy: ``deny("no").with_context("Read the rules first.")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a hook says about an event. Made by `pass_`, `deny` and the like."""

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
    """What is replaced, by the contract's names, such as ``updated_input``."""

    def __post_init__(self) -> None:
        # Here the author's line is still known.
        for name in self._TEXTS:
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{name} is {type(text).__name__}, not text: {text!r}")

    _TEXTS: ClassVar[tuple[str, ...]] = ("reason", "context", "system_message", "halt_reason")

    def with_context(self, text: str) -> Self:
        """Adds text to the model's context; a second text goes on a line of its own."""
        return replace(self, context=_line(self.context, text))

    def with_system_message(self, text: str) -> Self:
        """Warns the user; a second text goes on a line of its own."""
        return replace(self, system_message=_line(self.system_message, text))

    def suppressed(self) -> Self:
        """Keeps this hook's output out of the transcript."""
        return replace(self, suppress_output=True)

    def end_turn(self, reason: str | None = None) -> Self:
        """Ends the turn, whatever the other hooks say. The reason is shown to the user."""
        return replace(self, halt="turn", halt_reason=reason)

    def end_session(self, reason: str | None = None) -> Self:
        """Ends the session, whatever the other hooks say. The reason is shown to the user."""
        return replace(self, halt="session", halt_reason=reason)

    def with_extra(self, extra: Mapping[str, Any]) -> Self:
        """Merges an object into the dialect's output, for fields that hookbox does not know. The host drops, and reports,
        a key that it does know."""
        return replace(self, extra=extra)

    def with_input(self, value: Any) -> Self:
        """Another input for the tool, as a whole: ``{**call.input, "timeout": 60}`` changes one value. Pre tool use,
        permission request, can use tool."""
        return self._update("updated_input", value)

    def with_tool(self, name: str) -> Self:
        """Another tool to run instead. Pre tool use; picoclaw."""
        return self._update("updated_tool", name)

    def with_output(self, value: Any) -> Self:
        """Another output for the model to read, as a whole. Post tool use."""
        return self._update("updated_output", value)

    def with_prompt(self, text: str) -> Self:
        """Another prompt. User prompt submit."""
        return self._update("updated_prompt", text)

    def with_request(self, value: Any) -> Self:
        """Another request to the model; members left out keep their value. Before llm."""
        return self._update("updated_request", value)

    def with_response(self, value: Any) -> Self:
        """Another response of the model; members left out keep their value. After llm."""
        return self._update("updated_response", value)

    def with_env(self, name: str, value: str) -> Self:
        """Sets an environment variable for the whole session. Session start."""
        return self._update("env", [*self.updates.get("env", []), (name, value)])

    def _update(self, name: str, value: Any) -> Self:
        return replace(self, updates={**self.updates, name: value})


class Pass(Output):
    """Nothing to say about the event itself."""


class Allow(Output):
    """Go on without asking the user."""

    decision = "allow"

    def with_permissions(self, updates: Any) -> Self:
        """Permission updates to apply. Permission request; claude."""
        return self._update("updated_permissions", updates)


class Ask(Output):
    """Ask the user."""

    decision = "ask"


@dataclass(frozen=True, kw_only=True)
class Deny(Output):
    """Do not let it happen."""

    decision: ClassVar[str] = "deny"
    interrupt: bool = False
    """Also end the turn. Permission request, can use tool; claude, blade-callback."""

    def interrupting(self) -> Self:
        """Also ends the turn. Permission request, can use tool; claude, blade-callback."""
        return replace(self, interrupt=True)


class Skip(Output):
    """Leave this call out and go on."""

    decision = "skip"


@dataclass(frozen=True, kw_only=True)
class Respond(Output):
    """Do not run the tool, and give this result instead."""

    decision: ClassVar[str] = "respond"
    for_llm: str = ""
    """What the model reads."""
    for_user: str | None = None
    """What the user reads, when it differs."""
    silent: bool = False
    """Do not show it to the user."""
    is_error: bool = False
    _TEXTS = (*Output._TEXTS, "for_llm", "for_user")
    result_extra: Mapping[str, Any] | None = None
    """Further fields of the dialect's own result. picoclaw: ``media``, ``artifact_tags``, ``async``, ``response_handled``."""


class Block(Output):
    """Do not let it happen; on stop events: keep going."""

    decision = "block"


def pass_() -> Pass:
    """Nothing to say: the client goes on as if there were no hook. The same as returning nothing, and can be refined."""
    return Pass()


def allow(reason: str | None = None) -> Allow:
    """Let the tool run without asking the user. A hook needs the authority for it."""
    return Allow(reason=reason)


def ask(reason: str | None = None) -> Ask:
    """Ask the user."""
    return Ask(reason=reason)


def deny(reason: str | None = None) -> Deny:
    """Do not let the tool run. The reason is what the model is told."""
    return Deny(reason=reason)


def skip(reason: str | None = None) -> Skip:
    """Leave this call out and go on. Where a client cannot skip, it is a deny."""
    return Skip(reason=reason)


def respond(
    for_llm: str,
    *,
    for_user: str | None = None,
    silent: bool = False,
    is_error: bool = False,
    extra: Mapping[str, Any] | None = None,
) -> Respond:
    """Do not run the tool and give this result in its place. Where a client cannot, it is a deny with the text."""
    return Respond(for_llm=for_llm, for_user=for_user, silent=silent, is_error=is_error, result_extra=extra)


def block(reason: str | None = None) -> Block:
    """Do not let it happen. On stop events this means "keep going"; the reason is what the agent is told."""
    return Block(reason=reason)


def _line(text: str | None, line: str) -> str:
    return line if text is None else f"{text}\n{line}"
