"""A simulated host, for testing hooks with plain `pytest` or `unittest`.

    def test_once_is_enough():
        call = ToolCall(name="Bash", input={"command": "ls"})
        with Host(config={"max": 1}) as host:
            assert limit(call) is None
            assert limit(call) == skip("once is enough")
        assert host.state == {"Bash": "2"}

There is one host at a time. A nested one hides the outer one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from . import _host, http, llm, state


class Host:
    """A simulated host, without configuration, state, logs, network and model, except for the given ones."""

    def __init__(
        self,
        *,
        config: Mapping[str, Any] | None = None,
        raw_event: Mapping[str, Any] | None = None,
        state: Mapping[str, str] | None = None,
        http: Callable[[http.Request], http.Response] | None = None,
        llm: Callable[[llm.Prompt], str] | None = None,
    ) -> None:
        self.state: dict[str, str] = dict(state or {})
        """The keys and values of `hookbox.state`."""
        self.logs: list[tuple[str, str]] = []
        """Levels and messages of `hookbox.log`."""
        self._config, self._raw = dict(config or {}), dict(raw_event or {})
        self._http, self._llm = http, llm

    def __enter__(self) -> Self:
        _host.answer(self._function)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _host.no_more()

    def _function(self, interface: str, function: str) -> _host.Call:
        found: _host.Call = getattr(self, f"_{interface}_{function}".replace("-", "_"))
        return found

    def _log_log(self, level: str, message: str) -> None:
        self.logs.append((level, message))

    def _config_get(self) -> str:
        return json.dumps(self._config)

    def _event_raw(self) -> str:
        return json.dumps(self._raw)

    def _http_send(self, request: http.Request) -> http.Response:
        if self._http is None:
            raise http.DeniedError("the test answers no requests: Host(http=…)")
        return self._http(request)

    def _llm_complete(self, prompt: llm.Prompt) -> str:
        if self._llm is None:
            raise llm.FailedError("the test answers no prompts: Host(llm=…)")
        return self._llm(prompt)

    # Times to live are ignored, because a test ends sooner.

    def _state_get(self, key: str) -> str | None:
        return self.state.get(key)

    def _state_set(self, key: str, value: str, ttl: int | None) -> None:
        self.state[key] = value

    def _state_delete(self, key: str) -> bool:
        return self.state.pop(key, None) is not None

    def _state_increment(self, key: str, by: int, ttl: int | None) -> int:
        try:
            value = int(self.state.get(key, "0")) + by
        except ValueError:
            raise state.NotANumberError("the value is not a whole number") from None
        self.state[key] = str(value)
        return value

    def _state_compare_and_swap(self, key: str, expected: str | None, value: str, ttl: int | None) -> bool:
        if self.state.get(key) != expected:
            return False
        self.state[key] = value
        return True

    def _state_keys(self, prefix: str) -> list[str]:
        return sorted((key for key in self.state if key.startswith(prefix)), key=str.encode)
