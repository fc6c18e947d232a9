"""Python functions as hooks, beside components."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union

from ._native import Reply
from ._types import Authority, Mode, Policy
from ._threads import guarded
from ._wait import trio_runs

Output = Union[Mapping[str, Any], None]
HookFunction = Callable[[dict[str, Any]], Union[Output, Awaitable[Output]]]
"""Takes the event and returns the dialect's output; ``None`` for no output. It may be ``async``."""


@dataclass(frozen=True)
class Hook:
    """A function in the chain of hooks, after those of the configuration, with all that a hook of a configuration has.

    A function that raises, takes longer than its ``timeout`` or returns anything but the dialect's output is a failed hook.
    One that is not ``async`` runs on a separate thread, and continues there after its timeout.
    """

    event: str
    """The wire name of its event; ``canUseTool`` for the permission callback."""
    function: HookFunction
    """The function."""
    matcher: str | None = None
    """The events, by a pattern. Default: all."""
    name: str | None = None
    """Its name in reports. Default: that of the function."""
    timeout: float | None = None
    """Seconds. Default: 60."""
    on_failure: Policy | None = None
    """The result of a failure. Default: the dialect's own."""
    on_timeout: Policy | None = None
    """The result of a timeout. Default: as ``on_failure``."""
    authority: Authority | None = None
    """Its authority over decisions and rewrites. Default: all."""
    mode: Mode = "enforce"
    """``monitor``: it runs and is recorded, but decides nothing."""

    def entry(self) -> str:
        """The description that the runtime reads."""
        name = self.name or getattr(self.function, "__name__", None)
        keys = {
            "event": self.event,
            "matcher": self.matcher,
            "name": name,
            "timeout": self.timeout,
            "onFailure": self.on_failure,
            "onTimeout": self.on_timeout,
            "authority": self.authority,
            "mode": self.mode,
        }
        return json.dumps({key: value for key, value in keys.items() if value is not None})


def hook(
    event: str,
    *,
    matcher: str | None = None,
    name: str | None = None,
    timeout: float | None = None,
    on_failure: Policy | None = None,
    on_timeout: Policy | None = None,
    authority: Authority | None = None,
    mode: Mode = "enforce",
) -> Callable[[HookFunction], Hook]:
    """Makes a function a ``Hook``."""

    def make(function: HookFunction) -> Hook:
        return Hook(event, function, matcher, name, timeout, on_failure, on_timeout, authority, mode)

    return make


class Home:
    """The place in which ``async`` functions run: the event loop that loaded them, or a separate one for each call."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.token: Any = None
        if trio_runs():
            self.token = sys.modules["trio"].lowlevel.current_trio_token()
        else:
            try:
                self.loop = asyncio.get_running_loop()
            except RuntimeError:
                pass

    def is_here(self) -> bool:
        """Tells whether the calling thread is the one that the functions need."""
        try:
            return self.loop is not None and asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def run(self, waiting: Awaitable[Output], reply: Reply) -> None:
        """Runs this to its end, or hands it to the loop."""
        if self.token is not None:
            trio = sys.modules["trio"]
            _answer(reply, trio.from_thread.run(_awaited, waiting, trio_token=self.token))
        elif self.loop is not None and self.loop.is_running():
            future = asyncio.run_coroutine_threadsafe(_awaited(waiting), self.loop)
            reply.on_cancel(future.cancel)
            # This thread is one of few: it does not wait.
            future.add_done_callback(lambda done: _attempt(reply, lambda: _answer(reply, done.result())))
        else:
            _answer(reply, asyncio.run(_awaited(waiting)))


async def _awaited(waiting: Awaitable[Output]) -> Output:
    try:
        return await waiting
    except SystemExit as error:
        # It would end the loop, and the program with it.
        raise RuntimeError(f"SystemExit: {error}") from error


def _answer(reply: Reply, output: Output) -> None:
    reply.resolve(json.dumps(output))


def _attempt(reply: Reply, work: Callable[[], None]) -> None:
    """Does this; a failure is the reply."""
    try:
        work()
    except BaseException as error:  # Also SystemExit: it is a hook that ends, not the program.
        reply.reject(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def invoke(function: HookFunction, home: Home) -> Callable[[str, Reply], None]:
    """What the runtime calls on a thread of its own."""

    def call(event: str, reply: Reply) -> None:
        def work() -> None:
            output = function(json.loads(event))
            if inspect.isawaitable(output):
                home.run(output, reply)
            else:
                _answer(reply, output)

        # A thread of Python's own, which the interpreter may leave behind when it ends.
        threading.Thread(target=_attempt, args=(reply, work), name="hookbox-hook", daemon=True).start()

    return guarded(call)
