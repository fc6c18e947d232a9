"""The runtime of a process and its hook sets."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Union, cast

from . import _native
from ._errors import HookboxError
from ._hook import Home, Hook, invoke
from ._types import Ceiling, Event, Finding, Report
from ._wait import wait

Source = Union[str, PathLike[str], Mapping[str, Any]]
"""A configuration: the path of its file, or the object that it is."""

_COMPILER = Path(__file__).parent / "bin" / "hookbox-compiler"


def _json(**options: Any) -> str:
    return json.dumps({key: value for key, value in options.items() if value is not None})


def _bytes(event: Event) -> bytes:
    if isinstance(event, bytes):
        return event
    return (event if isinstance(event, str) else json.dumps(event)).encode("utf-8", "surrogatepass")


def _source(config: Source, folder: str | PathLike[str] | None) -> tuple[str | None, str | None, str | None]:
    if isinstance(config, Mapping):
        return None, json.dumps(config), fspath(folder) if folder is not None else None
    return fspath(config), None, None


class Runtime:
    """What all hook sets of a process share: the engine, compiled components, the state store, threads.

    One per process; a fork needs one of its own.
    """

    def __init__(self, native: _native.Runtime) -> None:
        self._native = native

    @classmethod
    def open(
        cls,
        *,
        compile_in_process: bool = False,
        compile_limits: Mapping[str, int] | None = None,
        cache_dir: str | PathLike[str] | None = None,
        max_instances: int | None = None,
        max_memory_mib: int | None = None,
        state_file: str | PathLike[str] | None = None,
        threads: int | None = None,
    ) -> Runtime:
        """Opens a runtime. It costs nothing until the first component is loaded.

        Components are compiled in a separate process, which a component made to exhaust a compiler cannot leave;
        ``compile_in_process`` compiles here. ``max_instances`` components run at once (16), on ``threads`` threads (one
        for each processor) where calls do not wait.
        """
        options = _json(
            compileInProcess=compile_in_process,
            compileLimits=compile_limits,
            cacheDir=None if cache_dir is None else fspath(cache_dir),
            maxInstances=max_instances,
            maxMemoryMiB=max_memory_mib,
            stateFile=None if state_file is None else fspath(state_file),
            threads=threads,
        )
        return cls(_native.Runtime(options, _COMPILER))

    async def load(
        self,
        config: Source,
        *,
        folder: str | PathLike[str] | None = None,
        hooks: Sequence[Hook] = (),
        dialect: str | None = None,
        fail_closed: bool = False,
        lazy: bool = False,
        tenant: str | None = None,
        ceiling: Ceiling | None = None,
        handlers: Sequence[str] = (),
        state_bytes: int | None = None,
    ) -> HookSet:
        """Loads a configuration with every hook, and ``hooks`` after them.

        ``config`` is a file, or an object whose relative paths are relative to ``folder``. With a ``ceiling`` no hook may
        exceed it, and only components run, and ``handlers`` of these types. Raises ``HookboxError`` where the
        configuration or a hook cannot be used.
        """
        home = Home()
        options = _load_options(dialect, fail_closed, lazy, tenant, ceiling, handlers, state_bytes)
        functions = [(hook.entry(), invoke(hook.function, home)) for hook in hooks]
        file, text, where = _source(config, folder)
        native = await wait(lambda done: self._native.load(file, text, where, options, functions, done))
        return HookSet(native, hooks, home)

    def load_sync(
        self,
        config: Source,
        *,
        folder: str | PathLike[str] | None = None,
        hooks: Sequence[Hook] = (),
        dialect: str | None = None,
        fail_closed: bool = False,
        lazy: bool = False,
        tenant: str | None = None,
        ceiling: Ceiling | None = None,
        handlers: Sequence[str] = (),
        state_bytes: int | None = None,
    ) -> HookSet:
        """As ``load``, while the calling thread waits."""
        home = Home()
        options = _load_options(dialect, fail_closed, lazy, tenant, ceiling, handlers, state_bytes)
        functions = [(hook.entry(), invoke(hook.function, home)) for hook in hooks]
        return HookSet(self._native.load_sync(*_source(config, folder), options, functions), hooks, home)

    async def check(
        self, config: Source, *, folder: str | PathLike[str] | None = None, dialect: str | None = None
    ) -> list[Finding]:
        """Finds everything that is wrong with a configuration and its hooks."""
        file, text, where = _source(config, folder)
        options = _json(dialect=dialect)
        found = await wait(lambda done: self._native.check(file, text, where, options, done))
        return cast("list[Finding]", json.loads(found))

    def check_sync(
        self, config: Source, *, folder: str | PathLike[str] | None = None, dialect: str | None = None
    ) -> list[Finding]:
        """As ``check``, while the calling thread waits."""
        found = self._native.check_sync(*_source(config, folder), _json(dialect=dialect))
        return cast("list[Finding]", json.loads(found))

    def close(self) -> None:
        """Refuses new calls. Decisions in progress are finished."""
        self._native.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Runtime:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _load_options(
    dialect: str | None,
    fail_closed: bool,
    lazy: bool,
    tenant: str | None,
    ceiling: Ceiling | None,
    handlers: Sequence[str],
    state_bytes: int | None,
) -> str:
    return _json(
        dialect=dialect,
        failClosed=fail_closed,
        lazy=lazy,
        tenant=tenant,
        ceiling=ceiling,
        handlers=list(handlers),
        stateBytes=state_bytes,
    )


class HookSet:
    """The hooks of one configuration, ready to be asked. Any number of threads and tasks may ask at once."""

    def __init__(self, native: _native.HookSet, hooks: Sequence[Hook], home: Home) -> None:
        self._native = native
        self._home = home
        self._has_async = any(inspect.iscoroutinefunction(hook.function) for hook in hooks)

    @property
    def dialect(self) -> str:
        """The dialect, with its profile."""
        return self._native.dialect

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self._native.tenant

    @property
    def events(self) -> list[str]:
        """Wire names of the events that some hook is for."""
        return self._native.events

    @property
    def warnings(self) -> list[Finding]:
        """What in the configuration has no effect."""
        return cast("list[Finding]", json.loads(self._native.warnings))

    async def decide(
        self,
        event: Event,
        *,
        event_name: str | None = None,
        timeout: float | None = None,
        body_only: bool = False,
    ) -> _native.Response:
        """Decides on one event. What is wrong with the event or with hooks is settled in the response.

        ``event_name`` is for dialects whose JSON does not carry it, ``timeout`` is the client's, in seconds, and
        ``body_only`` says that the client sees neither stderr nor an exit code.
        """
        data = _bytes(event)
        response = await wait(lambda done: self._native.decide(data, event_name, timeout, body_only, done))
        return cast("_native.Response", response)

    def decide_sync(
        self,
        event: Event,
        *,
        event_name: str | None = None,
        timeout: float | None = None,
        body_only: bool = False,
    ) -> _native.Response:
        """As ``decide``, while the calling thread waits."""
        self._may_wait()
        return self._native.decide_sync(_bytes(event), event_name, timeout, body_only)

    async def explain(self, event: Event, *, event_name: str | None = None) -> Report:
        """Decides on one event, and tells which hooks it met, what each said and the sentence that decided."""
        data = _bytes(event)
        report = await wait(lambda done: self._native.explain(data, event_name, done))
        return cast(Report, json.loads(report))

    def explain_sync(self, event: Event, *, event_name: str | None = None) -> Report:
        """As ``explain``, while the calling thread waits."""
        self._may_wait()
        return cast(Report, json.loads(self._native.explain_sync(_bytes(event), event_name)))

    async def check(self) -> list[Finding]:
        """Reports each hook that cannot be loaded or does not handle its event."""
        return cast("list[Finding]", json.loads(await wait(self._native.check)))

    def check_sync(self) -> list[Finding]:
        """As ``check``, while the calling thread waits."""
        return cast("list[Finding]", json.loads(self._native.check_sync()))

    async def close(self, grace: float = 2.0) -> None:
        """Ends what the hooks run, processes for example, in ``grace`` seconds at most. No event may come after."""
        await wait(lambda done: self._native.close(grace, done))

    def close_sync(self, grace: float = 2.0) -> None:
        """As ``close``, while the calling thread waits."""
        self._native.close_sync(grace)

    def _may_wait(self) -> None:
        if self._has_async and self._home.is_here():
            message = "an async hook of this set needs the event loop, which would wait for it here: use `await`"
            raise HookboxError("unsupported", message)

    async def __aenter__(self) -> HookSet:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __enter__(self) -> HookSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_sync()
