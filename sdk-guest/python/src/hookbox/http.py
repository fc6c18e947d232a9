"""HTTP requests to the hosts on the hook's allow-list.

``urllib``, ``requests`` and similar modules do not work in a hook, because a hook has no sockets. Here the host sends
the request and applies the grant. Importing this module requests the capability; the configuration grants it.
"""

from __future__ import annotations

import json as _json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _host


class Error(Exception):
    """A failed exchange. An error status is not a failure: see `Response.ok`."""


class DeniedError(Error):
    """Not on the allow-list, a private address, or a redirect that leaves the list."""


class TooLargeError(Error):
    """The request or the response is larger than granted."""


class TimeoutError(Error):
    """The hook's deadline passed."""


class FailedError(Error):
    """No connection, broken exchange or malformed request."""


@dataclass(frozen=True)
class Request:
    """An HTTP request."""

    method: str
    url: str
    """Absolute, ``http`` or ``https``."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes | None = None


@dataclass(frozen=True)
class Response:
    """An HTTP response."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def ok(self) -> bool:
        """True for a status from 200 to 299."""
        return 200 <= self.status < 300

    def header(self, name: str) -> str | None:
        """Returns the first header with this name. Case does not matter."""
        return next((value for header, value in self.headers if header.lower() == name.lower()), None)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:
        """The body as JSON."""
        return _json.loads(self.body)


def send(request: Request) -> Response:
    """Sends a request and waits for the response."""
    response: Response = _host.call("http", "send", request)
    return response


def get(url: str, *, headers: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Response:
    """Sends a GET request."""
    return send(Request("GET", url, _pairs(headers)))


def post(
    url: str,
    *,
    json: Any = None,
    body: bytes | str | None = None,
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
) -> Response:
    """Sends a POST request with a value as JSON, or with bytes."""
    pairs = _pairs(headers)
    if body is None and json is not None:
        body = _json.dumps(json, ensure_ascii=False, separators=(",", ":"))
        pairs = [("content-type", "application/json"), *pairs]
    return send(Request("POST", url, pairs, body.encode() if isinstance(body, str) else body))


def _pairs(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(headers.items() if isinstance(headers, Mapping) else headers)
