"""The backtrace at a point: from the innermost frame out to the line of the user's script."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import overload

from traces.model import Frame, Hop, PyFrame
from traces.passes.path import CALLS, landing
from traces.passes.select import point
from traces.predicates import Predicate, fields, parse
from traces.trace import Trace
from traces.values import Value, text

__all__ = ["Backtrace", "Entry", "Note", "at_point", "backtrace"]


@dataclass(frozen=True, slots=True)
class Note:
    """What stands below an entry: ``kind`` is hop, guard, signature, detail, error or open."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a backtrace: a frame of the trace, or one of the user's Python stack."""

    number: int
    name: str
    args: tuple[tuple[str, Value], ...]
    file: str
    line: int | None
    notes: tuple[Note, ...] = ()
    frame: Frame | None = None
    python: PyFrame | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Backtrace:
    """The frames at a point, innermost first. ``str`` is the text."""

    point: Hop | Frame
    entries: tuple[Entry, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, index: int | slice) -> Entry | tuple[Entry, ...]:
        return self.entries[index]

    @property
    def frames(self) -> list[Frame]:
        return [entry.frame for entry in self.entries if entry.frame is not None]

    def lines(self) -> list[str]:
        from traces.report.backtrace import lines

        return list(lines(self))

    def __str__(self) -> str:
        return "\n".join(self.lines())


def backtrace(trace: Trace, at: str | Predicate | None = None, nth: int = 1) -> Backtrace:
    """The backtrace at what ``at`` selects; see `traces.passes.select.point`.

    A call is followed through its redispatches to the kernel, unless ``at`` asks for a particular hop (by key, kind or
    number): then the backtrace begins in the frame of that hop.
    """
    found = point(trace, at, nth)
    exact = at is not None and not fields(parse(at) if isinstance(at, str) else at).isdisjoint(("key", "kind", "hop"))
    return at_point(trace, found, exact)


def at_point(trace: Trace, found: Hop | Frame, exact: bool = False) -> Backtrace:
    """The backtrace at a frame, or at a hop (a call, unless ``exact``: at the kernel it leads to)."""
    if isinstance(found, Hop):
        follow = found.kind in CALLS and not exact
        innermost = landing(trace, found) if follow else trace.frame(found.frame)
    else:
        innermost = found
    return Backtrace(found, tuple(_entries(trace, innermost)))


def _entries(trace: Trace, innermost: Frame) -> list[Entry]:
    entries: list[Entry] = []
    sources = Sources(trace)
    inner: Frame | None = None
    chain = trace.ancestors(innermost.id)
    for position, frame in enumerate(chain):
        line = frame.site.line if inner is None or inner.line is None else inner.line
        entries.append(
            Entry(
                len(entries),
                frame.site.name,
                tuple(frame.named_args()),
                frame.site.file,
                line or None,
                tuple(_notes(trace, frame, inner)),
                frame,
            )
        )
        for entry in _python(frame, chain[position + 1 :]):
            entries.append(
                Entry(
                    len(entries), entry.function, (), entry.file, entry.line, python=entry,
                    source=sources.line(entry.file, entry.line),
                )
            )  # fmt: skip
        inner = frame
    return entries


def _python(frame: Frame, outer: Sequence[Frame]) -> tuple[PyFrame, ...]:
    """The user's Python frames between a frame and the next one out (whose own stack is part of this one's)."""
    below = next((other.python for other in outer if other.python), ())
    if below and frame.python[-len(below) :] == below:
        return frame.python[: -len(below)]
    return frame.python


def _notes(trace: Trace, frame: Frame, inner: Frame | None) -> list[Note]:
    notes = []
    for hop in trace.hops_of(frame.id):
        kernel = f", kernel {hop.kernel} {hop.reason}".rstrip() if hop.kernel else ""
        derived = " (derived)" if hop.derived else ""
        keys = ", ".join(hop.keyset.names)
        notes.append(Note("hop", f"[{hop.kind}] op=[{hop.op}], key=[{hop.key}] of ({keys}){kernel}{derived}"))
    if frame.site.layer == "backend_select":  # by its name it could be the at:: function
        notes.append(Note("detail", "the BackendSelect kernel"))
    if frame.site.guard:
        notes.append(Note("guard", f"guard {frame.site.guard}"))
    details = dict(frame.details)
    signature = details.pop("signature", None)
    case = details.pop("case", details.pop("idx", None))
    total = details.pop("signatures", None)
    if signature is not None or case is not None:
        number = "signature" if case is None else f"case {text(case)}" + (f" of {text(total)}" if total else "")
        written = signature if isinstance(signature, str) else "" if signature is None else text(signature)
        notes.append(Note("signature", f"{number}: {written}".removesuffix(": ")))
    for name, value in details.items():
        notes.append(Note("detail", f"{name}: {value if isinstance(value, str) else text(value)}"))
    if frame.error is not None and (inner is None or inner.error != frame.error):  # said once, where it was raised
        kind, message = frame.error
        notes.append(Note("error", f"raised {kind}: {message.splitlines()[0] if message else ''}".rstrip(" :")))
    if frame.end_ns is None and inner is None:
        notes.append(Note("open", "had not returned when the trace ends"))
    if frame.derived:
        notes.append(Note("detail", "derived, not observed"))
    return notes


class Sources:
    """Lines of the user's files, as long as these are not newer than the trace."""

    def __init__(self, trace: Trace) -> None:
        self.files: dict[str, list[str]] = {}
        try:
            self.made: float | None = datetime.fromisoformat(str(trace.header.get("time"))).timestamp()
        except ValueError:
            self.made = None

        code = trace.header.get("code")
        if isinstance(code, str):  # what -c ran
            self.files["<string>"] = code.splitlines()

    def line(self, file: str, number: int) -> str | None:
        lines = self.files.get(file)
        if lines is None:
            lines = self.files[file] = self._read(file)
        return lines[number - 1].strip() or None if 0 < number <= len(lines) else None

    def _read(self, file: str) -> list[str]:
        if file.startswith("<"):
            return []
        try:
            if self.made is not None and os.stat(file).st_mtime > self.made + 1:
                return []
            with open(file, encoding="utf-8", errors="replace") as source:
                return source.read().splitlines()
        except (OSError, ValueError):
            return []
