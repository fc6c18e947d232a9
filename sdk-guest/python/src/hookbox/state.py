"""Keys and values that outlive a call, separate for each tenant, hook and (if configured) session.

A hook starts without memory of earlier calls, so values to remember belong here. Importing this module requests the
capability; the configuration grants it. Times to live are in seconds.
"""

from __future__ import annotations

from . import _host


class Error(Exception):
    """A failed state operation."""


class QuotaError(Error):
    """The key or value is too long, or the hook holds too many."""


class NotANumberError(Error):
    """`increment` found a value that is not a whole number."""


class UnavailableError(Error):
    """The store is busy or broken. A retry may help."""


def get(key: str) -> str | None:
    """Returns the value of a key."""
    value: str | None = _host.call("state", "get", key)
    return value


def set(key: str, value: str, *, ttl: float | None = None) -> None:
    """Sets a value. With ``ttl`` it expires after that many seconds."""
    _host.call("state", "set", key, value, _milliseconds(ttl))


def delete(key: str) -> bool:
    """Deletes a value. Returns true if there was one."""
    there: bool = _host.call("state", "delete", key)
    return there


def increment(key: str, by: int = 1, *, ttl: float | None = None) -> int:
    """Adds atomically and returns the new value. A missing value counts as 0. ``ttl`` applies only to new keys."""
    value: int = _host.call("state", "increment", key, by, _milliseconds(ttl))
    return value


def compare_and_swap(key: str, expected: str | None, value: str, *, ttl: float | None = None) -> bool:
    """Sets the value only if it is still ``expected``, where `None` means no value. Returns true if it was set."""
    done: bool = _host.call("state", "compare-and-swap", key, expected, value, _milliseconds(ttl))
    return done


def keys(prefix: str = "") -> list[str]:
    """Returns the keys that begin with the prefix, in byte order."""
    found: list[str] = _host.call("state", "keys", prefix)
    return found


def _milliseconds(ttl: float | None) -> int | None:
    return None if ttl is None else max(int(ttl * 1000), 0)
