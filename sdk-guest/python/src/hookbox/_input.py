"""Inputs of hooks."""

from __future__ import annotations

import json
from typing import Any, ClassVar


class Input:
    """A record of an event. JSON fields are parsed at the first access: a hook that decides by the tool's name alone
    does not pay for a large input."""

    _json: ClassVar[tuple[str, ...]] = ()

    def __getattr__(self, name: str) -> Any:
        text = self.__dict__.get("_texts", {}).get(name)
        if text is None:
            raise AttributeError(f"{type(self).__name__} has no {name}")
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
