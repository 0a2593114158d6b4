"""The records of a trace: frozen, slotted, plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traces.values import Value

__all__ = ["Edge", "Frame", "Hop", "KeySet", "Node", "PyFrame", "Site", "WarningRecord"]


@dataclass(frozen=True, slots=True)
class Site:
    """A function that can be entered, named as in PyTorch."""

    name: str
    layer: str
    params: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class PyFrame:
    """One entry of the user's Python stack."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A function entered on the way; ``line`` is the caller's current line inside the parent's file.

    ``python`` is the user's Python stack below this frame, innermost first; empty for frames entered from a frame.
    """

    id: int
    parent: int | None
    thread: int
    site: Site
    args: tuple[Value, ...]
    start_ns: int
    end_ns: int | None = None
    result: Value = None
    error: tuple[str, str] | None = None
    line: int | None = None
    python: tuple[PyFrame, ...] = ()
    details: Mapping[str, Value] = field(default_factory=dict)
    derived: bool = False

    @property
    def name(self) -> str:
        return self.site.name

    @property
    def layer(self) -> str:
        return self.site.layer

    @property
    def duration_ns(self) -> int | None:
        return None if self.end_ns is None else self.end_ns - self.start_ns

    def named_args(self) -> list[tuple[str, Value]]:
        """Arguments with their parameter names; surplus ones get an empty name."""
        params = self.site.params
        return [(params[i] if i < len(params) else "", value) for i, value in enumerate(self.args)]


@dataclass(frozen=True, slots=True)
class KeySet:
    """A dispatch key set: c10's bits, and the names, highest priority first."""

    raw: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"DispatchKeySet({', '.join(self.names)})"


@dataclass(frozen=True, slots=True)
class Hop:
    """A decision of the dispatcher, made in the frame ``frame``."""

    id: int
    frame: int
    kind: str
    op: str
    keyset: KeySet
    arg_keysets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    tls_include: tuple[str, ...] = ()
    tls_exclude: tuple[str, ...] = ()
    fallthrough: tuple[str, ...] = ()
    key: str = ""
    kernel: str = ""
    kernel_debug: str = ""
    reason: str = ""
    derived: bool = False

    @property
    def boxed(self) -> bool:
        return self.kind.endswith("Boxed")


@dataclass(frozen=True, slots=True)
class Edge:
    """To the input ``input_nr`` of a node; ``node`` None is an undefined edge."""

    node: int | None
    input_nr: int


@dataclass(frozen=True, slots=True)
class Node:
    """A grad_fn: made in the frame ``created_by``, run in the frames ``ran_in``."""

    id: int
    name: str
    sequence_nr: int | None = None
    edges: tuple[Edge, ...] = ()
    saved: Mapping[str, Any] = field(default_factory=dict)
    created_by: int | None = None
    variable: int | None = None
    ran_in: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WarningRecord:
    """A warning, and the frame it was given in."""

    category: str
    message: str
    frame: int | None = None
