"""What `Writer` stands on: one record at a time, numbers for what is written once, the time, open frames."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from traces.errors import TraceError
from traces.io.format import FORMAT, VERSION
from traces.io.output import Output
from traces.io.text import dump, split
from traces.store import Ids

__all__ = ["Scribe"]

MAX_INTERNED = 1 << 16  # values remembered; beyond that they are forgotten and written anew, so memory stays bounded

# By the number of digits of a step: what two of them leave over.
_UNITS: list[int] = [1, 1, 1] + [10**digits for digits in range(1, 40)]

_open: weakref.WeakSet[Scribe] = weakref.WeakSet()


def _mute_after_fork() -> None:
    for writer in list(_open):
        writer._mute()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mute_after_fork)


class Scribe:
    """Holds a trace file open and the state that its lines refer to."""

    def __init__(
        self,
        target: str | os.PathLike[str] | int | BinaryIO,
        header: Mapping[str, Any] | None = None,
        exact: bool = False,
    ) -> None:
        self._exact = exact
        self._out = Output(target)
        self._lock = threading.RLock()
        self._busy = False
        self._late: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._closed = False
        self._lines: list[str] = []
        self._tables: dict[str, dict[Any, int]] = {tag: {} for tag in ("f", "s", "p", "@", "k", "d")}
        self._sites: list[tuple[Any, ...]] = []
        self._site_keys: dict[tuple[Any, ...], int] = {}
        self._values: dict[str, int] = {}
        self._value_count = 0
        self._calls: dict[tuple[int, int, int], int] = {}
        self._call_count = 0
        self._quick: dict[tuple[Any, ...], int] = {}  # what a call is made of, as it is told -> its number
        self._stacks: dict[int, list[int]] = {}
        self._open: dict[int, int] = {}  # open frames: their thread
        self._thread = 1
        self._frames = Ids()
        self._hops = Ids()
        self._nodes: set[int] = set()
        self._last_ns: int | None = None
        self._before: tuple[int | None, int] = (None, 0)  # both, before the record that is being written
        self._owed = 0  # by how much the steps written fall short of the time that went by
        self._out.write((dump({"format": FORMAT, "version": VERSION, **(header or {})}) + "\n").encode(), True)
        _open.add(self)

    # ---- one record at a time -----------------------------------------------------------------------------------

    def _do(self, action: Callable[..., None], *args: Any) -> None:
        """Run one action whole, even if a signal handler or a finaliser records something in the middle of it."""
        with self._lock:
            if self._closed:
                return
            if self._busy:
                self._late.append((action, args))
                return
            self._busy = True
            try:
                action(*args)
                while self._late:
                    later, args = self._late.pop(0)
                    later(*args)
            finally:
                self._busy = False

    def _catch_up(self) -> None:
        """Let the actions that had to wait have their turn."""
        if self._late:
            self._do(lambda: None)

    def _write(self, line: str, flush: bool) -> None:
        kept = self._lines
        if kept:
            line = "\n".join([*kept, line])
            self._lines = []
        try:
            self._out.write((line + "\n").encode(), flush)
        except RecursionError:  # nothing has been written
            self._lines = kept
            self._last_ns, self._owed = self._before
            raise
        except TraceError:
            self._mute()  # a record is missing: whatever would follow could not be understood
            raise

    def _check(self) -> None:
        try:
            self._out.check()
        except TraceError:
            self._mute()
            raise

    def _define(self, tag: str, key: Any, fields: Callable[[], list[Any]]) -> int:
        """The number of something that is written once, defined before the line that names it."""
        table = self._tables[tag]
        number = table.get(key)
        if number is None:
            row = dump([tag, *fields()])
            number = table[key] = len(table)
            self._lines.append(row)
        return number

    def _value(self, value: Any) -> tuple[int, list[str]]:
        return self._text(*split(dump(value)))

    def _text(self, text: str, numbers: list[str]) -> tuple[int, list[str]]:
        number = self._values.get(text)
        if number is None:
            if len(self._values) >= MAX_INTERNED:
                self._values.clear()
                self._calls.clear()
                self._quick.clear()
            number = self._values[text] = self._value_count
            self._value_count += 1
            self._lines.append(f'["a",{text}]')
        return number, numbers

    def _delta(self, t_ns: int) -> int:
        """The step of time since the last one, in two digits: rounded up or down, whichever keeps the sum right."""
        self._before = self._last_ns, self._owed
        step = 0 if self._last_ns is None else t_ns - self._last_ns
        self._last_ns = t_ns
        if step < 100 or self._exact:
            return step
        unit = _UNITS[len(str(step))]
        rest = step % unit
        up = self._owed + rest > unit // 2
        self._owed += rest - unit if up else rest
        return step - rest + unit if up else step - rest

    def _on(self, thread: int) -> list[int]:
        """Make a thread the current one; its open frames."""
        if thread != self._thread:
            self._thread = thread
            self._lines.append(f'["t",{thread}]')
        return self._stacks.setdefault(thread, [])

    def _file(self, path: str) -> int:
        return self._define("f", path, lambda: [path])

    def _site(self, number: int) -> int:
        known = self._tables["s"].get(number)
        if known is not None:
            return known
        name, layer, params, file, line, guard = self._sites[number]
        path = self._file(file)
        return self._define("s", number, lambda: [name, layer, params, path, line, guard])

    def _python(self, entry: Any) -> int:
        file, line, function = entry
        path = self._file(file)
        return self._define("p", (file, line, function), lambda: [path, line, function])

    def _call(self, call: tuple[int, int, int]) -> int:
        number = self._calls.get(call)
        if number is None:
            number = self._calls[call] = self._call_count
            self._call_count += 1
            self._lines.append(f'["c",{call[0]},{call[1]},{call[2]}]')
        return number

    def _keys(self, names: Sequence[str]) -> int:
        return self._define("k", tuple(names), lambda: list(names))

    def _decision(self, made: tuple[Any, ...]) -> int:
        kind, op, (raw, names), arg_keysets, include, exclude, fallthrough, key, kernel, debug, reason, derived = made
        keys = self._keys(names)
        arguments = [[name, self._keys(keys)] for name, keys in arg_keysets]
        sets = [self._keys(some) for some in (include, exclude, fallthrough)]
        row = [kind, op, raw, keys, arguments, *sets, key, kernel, debug, reason, int(derived)]
        return self._define("d", made, lambda: row)

    def _begun(self, frame_id: int) -> None:
        if self._frames.find(frame_id) is None:
            raise TraceError(f"frame {frame_id} has not begun")

    def _mute(self) -> None:
        self._closed = True
        self._out.release()
        self._lock = threading.RLock()  # another thread may have held the old one when this process was forked
        self._busy = False

    def abandon(self) -> None:
        """Close the file without an exit: it stays marked as truncated."""
        if not self._closed:
            self._closed = True
            self._out.close()
