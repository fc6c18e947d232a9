from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

from ._types import Report

__all__ = ["HookSet", "Reply", "Response", "Runtime", "Task"]

_Done = Callable[[Any, BaseException | None], object]
_Path = str | PathLike[str]

@final
class Task:
    def cancel(self) -> None: ...

@final
class Reply:
    def resolve(self, output: str) -> None: ...
    def reject(self, why: str) -> None: ...
    def on_cancel(self, call: Callable[[], object]) -> None: ...

_Invoke = Callable[[str, Reply], object]

@final
class Response:
    """The answer to one event, whatever happened to it."""

    @property
    def stdout(self) -> str:
        """The text for the client; empty: no output."""
    @property
    def is_text(self) -> bool:
        """The text is plain text, and not JSON."""
    @property
    def stderr(self) -> str | None:
        """The text for the client on stderr: the reason of a block, or feedback for the model."""
    @property
    def quiet(self) -> bool:
        """Nothing but ``stderr`` may be written to stderr: the client reads it."""
    @property
    def exit_code(self) -> int:
        """The exit code of a program that is the client's hook."""
    @property
    def outcome(self) -> str:
        """``allow``, ``deny``, ``ask``, ``defer``, ``skip``, ``respond``, ``stop``, ``none``, ``nothing`` or ``failed``."""
    @property
    def blocks(self) -> bool:
        """The client is told to block."""
    @property
    def restricts(self) -> bool:
        """The client is told to block, to ask its user, or to use another input."""
    @property
    def undelivered(self) -> str | None:
        """The reason to block if the text cannot be given to the client; ``None``: it may go on."""
    @property
    def refusal(self) -> str | None:
        """The reason not to perform the action with the event's own value, for a program that cannot ask a user."""
    @property
    def replacement(self) -> tuple[Any] | None:
        """The value to use in place of the event's own, such as another input for the tool, in a tuple of one.

        A program that can use it does not obey ``refusal`` then."""
    @property
    def error(self) -> tuple[str, str] | None:
        """The kind (``event``, ``config``, ``internal``) and the message of an error of hookbox itself."""
    @property
    def output(self) -> Any:
        """The text as a value: JSON read, plain text as a string, nothing as ``None``."""
    @property
    def report(self) -> Report | None:
        """Each hook's part and the sentence that decided; ``None``: no hook ran."""
    def to_json(self) -> str:
        """All of it as JSON."""

@final
class HookSet:
    @property
    def dialect(self) -> str: ...
    @property
    def tenant(self) -> str: ...
    @property
    def events(self) -> list[str]: ...
    @property
    def warnings(self) -> str: ...
    def decide(
        self, event: bytes, event_name: str | None, timeout: float | None, body_only: bool, done: _Done
    ) -> Task: ...
    def decide_sync(
        self, event: bytes, event_name: str | None, timeout: float | None, body_only: bool
    ) -> Response: ...
    def explain(self, event: bytes, event_name: str | None, done: _Done) -> Task: ...
    def explain_sync(self, event: bytes, event_name: str | None) -> str: ...
    def check(self, done: _Done) -> Task: ...
    def check_sync(self) -> str: ...
    def close(self, grace: float, done: _Done) -> Task: ...
    def close_sync(self, grace: float) -> None: ...

@final
class Runtime:
    def __new__(cls, options: str, compiler: _Path | None) -> Runtime: ...
    def load(
        self,
        file: _Path | None,
        text: str | None,
        folder: _Path | None,
        options: str,
        hooks: Sequence[tuple[str, _Invoke]],
        done: _Done,
    ) -> Task: ...
    def load_sync(
        self,
        file: _Path | None,
        text: str | None,
        folder: _Path | None,
        options: str,
        hooks: Sequence[tuple[str, _Invoke]],
    ) -> HookSet: ...
    def check(
        self, file: _Path | None, text: str | None, folder: _Path | None, options: str, done: _Done
    ) -> Task: ...
    def check_sync(
        self, file: _Path | None, text: str | None, folder: _Path | None, options: str
    ) -> str: ...
    def close(self) -> None: ...
