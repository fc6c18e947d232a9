"""Calls from threads of the runtime, which must not be in Python when the interpreter ends: that ends the process with a signal."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any

from ._native import Task

_lock = threading.Lock()
_inside = 0
_is_over = False
_tasks: set[Task] = set()

_LONGEST = 1.0
"""Seconds that the end of the interpreter waits for calls to return."""
_RETURN = 0.02
"""Seconds for the last of them to leave Python."""


def guarded(call: Callable[..., object]) -> Callable[..., None]:
    """Makes a function one that threads of the runtime may call; it does nothing when the interpreter is about to end."""

    def guard(*arguments: Any) -> None:
        global _inside
        with _lock:
            if _is_over:
                return
            _inside += 1
        try:
            call(*arguments)
        finally:
            with _lock:
                _inside -= 1

    return guard


def begin(task: Task) -> None:
    """Notes work that ends with a call from a thread of the runtime."""
    with _lock:
        _tasks.add(task)


def end(task: Task) -> None:
    """Forgets it."""
    with _lock:
        _tasks.discard(task)


def _stop() -> None:
    global _is_over
    with _lock:
        _is_over = True
        tasks = list(_tasks)
    for task in tasks:
        task.cancel()
    until = time.monotonic() + _LONGEST
    while _inside and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(_RETURN)


atexit.register(_stop)
