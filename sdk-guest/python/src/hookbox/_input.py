"""Inputs of hooks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name that was probably meant. At most a third of its letters may differ. The standard library's
    `difflib` cannot be imported during a call."""
    best = min(known, key=lambda candidate: _distance(name, candidate), default=None)
    return best if best is not None and _distance(name, best) <= max(len(best) // 3, 1) else None


def _distance(a: str, b: str) -> int:
    """Returns the edit distance of two names, without case and underscores."""
    a, b = a.lower().replace("_", ""), b.lower().replace("_", "")
    row = list(range(len(b) + 1))
    for i, x in enumerate(a[:100], 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


class Input:
    """A record of an event. JSON fields are parsed at the first access: a hook that decides by the tool's name alone
    does not pay for a large input."""

    _json: ClassVar[tuple[str, ...]] = ()

    def __getattr__(self, name: str) -> Any:
        text = self.__dict__.get("_texts", {}).get(name)
        if text is None:
            known = [field for field in (*self.__dict__, *self._json) if not field.startswith("_")]
            near = None if name.startswith("_") else nearest(name, known)
            hint = f"; did you mean `{near}`?" if near else ""
            raise AttributeError(f"{type(self).__name__} has no `{name}`{hint}")
        value = json.loads(text)
        # A tool without arguments has an empty object, so that hooks can look up members.
        if value is None and name == "input":
            value = {}
        self.__dict__[name] = value
        return value


def lifted(kind: type[Input], record: Any) -> Any:
    """Converts a record of the contract to an input."""
    value = object.__new__(kind)
    fields = vars(record)
    texts = {name: fields[name] for name in kind._json if fields[name] is not None}
    value.__dict__.update({name: field for name, field in fields.items() if name not in texts}, _texts=texts)
    return value
