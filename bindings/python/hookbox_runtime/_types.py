"""Types of what goes in and comes out as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, Union

Event = Union[str, bytes, Mapping[str, Any]]
"""An event: the client's JSON as text or bytes, or the object that it is."""

Policy = Literal["ignore", "block", "ask"]
"""What a failed hook counts as."""

Mode = Literal["enforce", "monitor"]
"""Whether a hook decides, or only runs and is recorded."""


class AuthorityDetails(TypedDict, total=False):
    """What a hook may decide. What is not given is not granted."""

    decide: list[Literal["deny", "ask", "allow", "skip", "respond", "abort"]]
    rewrite: Union[Literal["all"], list[str]]
    context: bool
    systemMessage: bool
    env: list[str]


Authority = Union[Literal["gate", "rewriter", "trusted"], AuthorityDetails]
"""A preset, or in detail; as ``authority`` in a configuration."""


class Ceiling(TypedDict, total=False):
    """What no hook of a tenant may exceed; each as in a configuration."""

    authority: Authority
    permissions: Mapping[str, Any]
    limits: Mapping[str, Any]


class Finding(TypedDict):
    """One thing that is wrong with a configuration."""

    severity: Literal["error", "warning"]
    file: str
    pointer: str
    line: Union[int, None]
    message: str
    help: Union[str, None]


class Note(TypedDict):
    """What was taken out or changed of what a hook said."""

    kind: str
    text: str


class _HookReport(TypedDict):
    hook: str
    pointer: str
    verdict: str


class HookReport(_HookReport, total=False):
    """One hook's part in a report."""

    mode: Mode
    timeUs: int
    fuel: int
    componentDigest: str
    publisher: str
    reason: str
    cause: str
    message: str
    countedAs: str
    notes: list[Note]


class _Report(TypedDict):
    event: str
    tool: Union[str, None]
    dialect: str
    hooks: list[HookReport]
    verdict: str
    reason: Union[str, None]
    clause: str
    notes: list[Note]
    output: Any


class Report(_Report, total=False):
    """Which hooks an event met, what each said, and the sentence that decided."""

    wouldBe: str
