"""Code that runs only in a component: conversions between the contract's types and those of this package.

`hookbox build` starts Python once, imports the hook and keeps the resulting memory. Every call starts with that memory.
"""

from __future__ import annotations

import encodings
import gc
import inspect
import io
import json
import logging
import pkgutil
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

from componentize_py_types import Err  # type: ignore[import-not-found]

from . import _host
from ._input import lifted
from ._subscribe import SUBSCRIPTIONS, Spec, Subscription
from .faults import BadInput
from .outputs import Deny, Output, Pass, Respond

_types: Any = import_module("wit_world.imports.types")


def exports(hook: str, events: list[str], imports: list[str], preloaded: list[str]) -> dict[str, type]:
    """Imports the hook, and creates the classes that a component exports."""
    for name in preloaded:
        _import_if_there(name)
    functions = _functions(imports)
    logs = _Lines(functions["log"], "info", sys.stdout), _Lines(functions["log"], "warn", sys.stderr)
    sys.stdout, sys.stderr = logs
    logging.root.addHandler(_Records())
    logging.root.setLevel(logging.DEBUG)
    logging.raiseExceptions = False
    import_module(hook)
    # The standard library imports these modules on first use, and during a call there are no files to import from.
    for name in ("_strptime", *(f"encodings.{codec.name}" for codec in pkgutil.iter_modules(encodings.__path__))):
        _import_if_there(name)
    _without_sockets()
    missing = [event for event in events if event not in SUBSCRIPTIONS]
    if missing or len(events) != len(SUBSCRIPTIONS):
        raise RuntimeError(f"{hook} handles other events here than where it was built: {list(SUBSCRIPTIONS)}, not {events}")
    exported = {_pascal(event): _export(SUBSCRIPTIONS[event], functions, logs) for event in events}
    # The objects that exist now live to the end of every call, so garbage collection need not visit them.
    gc.collect()
    gc.freeze()
    return exported


def _export(subscription: Subscription, functions: dict[str, Any], logs: tuple[_Lines, _Lines]) -> type:
    spec = subscription.spec
    lower = _lowering(spec)

    def handle(self: object, context: Any, *records: Any) -> Any:
        _host.answer(lambda interface, function: functions[interface][function])
        # The seed in the kept memory is the same in every call.
        if "random" in sys.modules:
            sys.modules["random"].seed()
        try:
            records = (*records, context)
            arguments = [
                json.loads(record) if kind is None else lifted(kind, record)
                for (_, kind), record in zip(spec.arguments[: subscription.takes], records)
            ]
            return lower(subscription.handler(*arguments))
        except BadInput as error:
            fault = _types.Fault_BadInput(_text(_told(error, subscription.handler)))
        except BaseException as error:
            fault = _types.Fault_Failed(_text(_told(error, subscription.handler)))
        finally:
            for log in logs:
                log.end_line()
        raise Err(fault)

    return type(_pascal(spec.name), (), {"handle": handle})


# ---- outputs ----


def _lowering(spec: Spec) -> Callable[[Any], Any]:
    if spec.answers == "nothing":
        return lambda output: None
    if spec.answers == "json":
        return lambda output: None if output is None else _json(output)
    if spec.answers == "effects":
        return lambda output: _effects(output or Pass())
    module: Any = import_module("wit_world.exports." + spec.name.replace("-", "_"))
    # Decision types that several events use are shared.
    holder, prefix = module, "Decision_"
    if spec.decisions and not hasattr(module, "Decision_Pass"):
        holder, prefix = _types, "PermissionDecision_" if "deny" in spec.decisions else "BlockDecision_"

    def lower(output: Output | None) -> Any:
        output = output or Pass()
        fields: dict[str, Any] = {"effects": _effects(output)}
        if spec.decisions:
            decision = getattr(holder, prefix + output.decision.capitalize())
            if isinstance(output, Pass):
                fields["decision"] = decision()
            elif isinstance(output, Respond):
                fields["decision"] = decision(
                    module.Response(
                        _text(output.for_llm),
                        _option(output.for_user),
                        bool(output.silent),
                        bool(output.is_error),
                        _option_json(output.result_extra),
                    )
                )
            elif isinstance(output, Deny) and holder is _types:
                fields["decision"] = decision(_types.Denial(_option(output.reason), bool(output.interrupt)))
            else:
                fields["decision"] = decision(_option(output.reason))
        for name in spec.updates:
            fields[name] = _update(name, output.updates)
        return module.Output(**fields)

    return lower


def _update(name: str, updates: Any) -> Any:
    if name == "env":
        return [(_text(key), _text(value)) for key, value in updates.get(name, [])]
    if name not in updates:
        return None
    return _option(updates[name]) if name in ("updated_tool", "updated_prompt") else _json(updates[name])


def _effects(output: Output) -> Any:
    halt = None
    if output.halt:
        halt = _types.Halt(_types.Scope[output.halt.upper()], _option(output.halt_reason))
    return _types.Effects(
        _option(output.context),
        _option(output.system_message),
        bool(output.suppress_output),
        halt,
        _option_json(output.extra),
    )


def _option(text: Any) -> str | None:
    """Converts an empty text to `None`."""
    return None if text is None or text == "" else _text(text)


def _option_json(value: Any) -> str | None:
    return None if value is None else _json(value)


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not text")
    # Half of a surrogate pair has no UTF-8 encoding.
    return text.encode("utf-8", "replace").decode()


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text if text.isascii() or _is_utf8(text) else json.dumps(value, allow_nan=False)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _told(error: BaseException, handler: Callable[..., Any]) -> str:
    """Formats an error for the author: the error, and its place in the hook. An error in an output is reported at the
    start of the handler, which has already returned."""
    what = str(error) if isinstance(error, BadInput) else "".join(traceback.format_exception_only(error)).strip()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        if "/hookbox/" not in file and not file.startswith(("/python", "<", "/bundled")):
            return f"{what} ({_relative(file)}:{frame.lineno})"
    code = getattr(inspect.unwrap(handler), "__code__", None)
    if code is None or "(" + _relative(code.co_filename) + ":" in what:
        return what
    return f"{what} ({_relative(code.co_filename)}:{code.co_firstlineno})"


def _relative(file: str) -> str:
    """Removes the build's folder names: the author's folders are called `/0`, `/1`, … in a component."""
    _, folder, rest = (["", *file.split("/", 2)] if not file.startswith("/") else file.split("/", 2) + [""])[:3]
    return rest if folder.isdigit() else file


# ---- capabilities ----


def _functions(imports: list[str]) -> dict[str, Any]:
    """The functions of the contract that this component imports. Their errors become exceptions of this package."""
    functions: dict[str, Any] = {}
    for interface in imports:
        module = import_module(f"wit_world.imports.{interface}")
        ours = import_module(f"hookbox.{interface}")
        functions[interface] = {
            name: _convert(interface, getattr(module, name.replace("-", "_")), module, ours)
            for name in _INTERFACES[interface]
        }
    return functions


_INTERFACES = {
    "log": ["log"],
    "config": ["get"],
    "event": ["raw"],
    "state": ["get", "set", "delete", "increment", "compare-and-swap", "keys"],
    "http": ["send"],
    "llm": ["complete"],
}


def _convert(interface: str, function: Any, wit: Any, ours: Any) -> Any:
    def converted(*arguments: Any) -> Any:
        if interface == "log":
            level, message = arguments
            return function(wit.Level[level.upper()], _text(message))
        if interface == "http":
            (request,) = arguments
            headers = [(_text(name), _text(value)) for name, value in request.headers]
            arguments = (wit.Request(_text(request.method), _text(request.url), headers, request.body),)
        elif interface == "llm":
            (prompt,) = arguments
            texts = _option(prompt.model), _option(prompt.system), _text(prompt.user)
            arguments = (wit.Prompt(*texts, prompt.max_tokens),)
        else:
            arguments = tuple(_text(a) if isinstance(a, str) else a for a in arguments)
        try:
            result = function(*arguments)
        except Err as error:
            raise _raised(interface, error.value, ours) from None
        return ours.Response(result.status, list(result.headers), bytes(result.body)) if interface == "http" else result

    return converted


def _raised(interface: str, error: Any, ours: Any) -> Exception:
    kind = type(error).__name__.removeprefix("Error_")
    why = getattr(error, "value", "") or {
        "NotANumber": "the value is not a whole number",
        "Timeout": "the hook's deadline came first",
    }.get(kind, kind)
    raised: Exception = getattr(ours, f"{kind}Error")(f"{interface}: {why}")
    return raised


# ---- what is printed ----


class _Lines(io.TextIOBase):
    """Logs text line by line. While the component is built, the text goes to the console of the build."""

    def __init__(self, log: Any, level: str, before: Any) -> None:
        self._log, self._level, self._before, self._line = log["log"], level, before, ""

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def write(self, text: str) -> int:
        if not _host.is_there():
            return int(self._before.write(text))
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._log(self._level, line)
        return len(text)

    def end_line(self) -> None:
        if self._line:
            line, self._line = self._line, ""
            self._log(self._level, line)


class _Records(logging.Handler):
    """Logs the records of `logging` with their level, without the time, which the host knows."""

    def emit(self, record: logging.LogRecord) -> None:
        from . import log

        level = next(name for least, name in _LOGGING if record.levelno >= least)
        getattr(log, level)(self.format(record))


_LOGGING = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"), (0, "debug"))


def _without_sockets() -> None:
    """Makes sockets fail with a message, because a component has none."""
    if "socket" in sys.modules:
        socket: Any = sys.modules["socket"]
        socket.socket.__init__ = socket.getaddrinfo = _no_socket


def _no_socket(*arguments: Any, **named: Any) -> Any:
    raise PermissionError("a hook has no sockets: use `hookbox.http`")


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _import_if_there(name: str) -> None:
    try:
        import_module(name)
    except Exception:
        pass
