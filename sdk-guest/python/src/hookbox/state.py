"""Keys and values that outlive a call, kept apart by tenant, hook and (if so configured) session.

A hook starts afresh with every call: what it wants to remember goes here. Importing this module asks for it; the
configuration grants it. Times to live are in seconds.
"""

from __future__ import annotations

from . import _host


class Error(Exception):
    """A state operation that failed."""


class QuotaError(Error):
    """The key or value is too long, or the hook holds too many."""


class NotANumberError(Error):
    """`increment` met a value that is not a whole number."""


class UnavailableError(Error):
    """The store is busy or broken; trying again may help."""


def get(key: str) -> str | None:
    """The value of a key."""
    value: str | None = _host.call("state", "get", key)
    return value


def set(key: str, value: str, *, ttl: float | None = None) -> None:
    """Sets a value, which is forgotten after ``ttl`` seconds."""
    _host.call("state", "set", key, value, _milliseconds(ttl))


def delete(key: str) -> bool:
    """Deletes a value. True when there was one."""
    there: bool = _host.call("state", "delete", key)
    return there


def increment(key: str, by: int = 1, *, ttl: float | None = None) -> int:
    """Adds atomically, a missing value counting as 0, and returns the new value. ``ttl`` is used when the key is new."""
    value: int = _host.call("state", "increment", key, by, _milliseconds(ttl))
    return value


def compare_and_swap(key: str, expected: str | None, value: str, *, ttl: float | None = None) -> bool:
    """Sets the value only when it still is ``expected``, where `None` is no value. Returns whether it was set."""
    done: bool = _host.call("state", "compare-and-swap", key, expected, value, _milliseconds(ttl))
    return done


def keys(prefix: str = "") -> list[str]:
    """Keys that begin with the prefix, in byte order."""
    found: list[str] = _host.call("state", "keys", prefix)
    return found


def _milliseconds(ttl: float | None) -> int | None:
    return None if ttl is None else max(int(ttl * 1000), 0)
