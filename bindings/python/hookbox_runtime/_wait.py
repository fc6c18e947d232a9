"""Waits for work on hookbox's threads, under asyncio and under trio."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ._native import Task
from ._threads import begin, end, guarded

T = TypeVar("T")
Done = Callable[[Any, "BaseException | None"], object]


def trio_runs() -> bool:
    """Returns true if the calling task is one of trio's."""
    trio = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        # Every version of trio has this function; `in_trio_task` is newer.
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


async def wait(start: Callable[[Done], Task]) -> Any:
    """Starts work, and waits for what it calls ``done`` with. Cancelling the wait cancels the work."""
    return await (_wait_trio(start) if trio_runs() else _wait_asyncio(start))


async def _wait_asyncio(start: Callable[[Done], Task]) -> Any:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def done(value: Any, error: BaseException | None) -> None:
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # The loop is closed, so there is no caller.

    task = start(guarded(done))
    begin(task)
    try:
        return await future
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        end(task)


async def _wait_trio(start: Callable[[Done], Task]) -> Any:
    trio = sys.modules["trio"]
    token, waiting = trio.lowlevel.current_trio_token(), trio.lowlevel.current_task()
    is_over = False

    def settle(value: Any, error: BaseException | None) -> None:
        nonlocal is_over
        if not is_over:
            is_over = True
            outcome = sys.modules["outcome"]
            trio.lowlevel.reschedule(waiting, outcome.Value(value) if error is None else outcome.Error(error))

    def done(value: Any, error: BaseException | None) -> None:
        try:
            token.run_sync_soon(settle, value, error)
        except trio.RunFinishedError:
            pass

    task = start(guarded(done))
    begin(task)

    def abort(_: Any) -> Any:
        nonlocal is_over
        is_over = True
        task.cancel()
        return trio.lowlevel.Abort.SUCCEEDED

    try:
        return await trio.lowlevel.wait_task_rescheduled(abort)
    finally:
        end(task)
