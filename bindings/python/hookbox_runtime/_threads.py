"""Calls from threads of the runtime. None may be in Python when the interpreter ends, because a signal would end the process then."""

from __future__ import annotations

import atexit
import os
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


def _forget() -> None:
    """In a fork: the threads that may hold the lock do not exist, and neither does their work."""
    global _lock, _inside
    _lock, _inside = threading.Lock(), 0
    _tasks.clear()


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
