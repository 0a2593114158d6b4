"""`Writer`: a trace file written while the program runs, readable up to the last record whenever the program dies.

Every method hands its line(s) to the kernel in one write before it returns, so nothing is lost to SIGKILL or
``os._exit``. What is small and repeats is written once and named by its number afterwards; FORMAT.md has the details.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from traces.errors import TraceError
from traces.io.format import BEGIN, DETAIL, END, FORMAT, HOP, VERSION
from traces.io.output import Output
from traces.io.text import decode, dump, split
from traces.store import Ids, decision
from traces.values import Encoded, Value

__all__ = ["Writer"]

MAX_INTERNED = 1 << 16  # values remembered; beyond that they are forgotten and written anew, so memory stays bounded

_UNITS = [1, 1, 1] + [10**digits for digits in range(1, 40)]  # by the number of digits: what two of them leave

_open: weakref.WeakSet[Writer] = weakref.WeakSet()


def _mute_after_fork() -> None:
    for writer in list(_open):
        writer._mute()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mute_after_fork)


def _nothing() -> None:
    """An action that only lets those that waited have their turn."""


class Writer:
    """Writes the events of a run to a trace file; see `traces.Sink`.

    Every step of time is written with two significant digits, unless ``exact``: the rest would be half of a compressed
    file, and says nothing beside what watching costs. The errors do not add up.
    """

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
        self._first_ns: int | None = None
        self._now = 0
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

    def _write(self, line: str, flush: bool) -> None:
        if self._lines:
            line = "\n".join([*self._lines, line])
            self._lines.clear()
        try:
            self._out.write((line + "\n").encode(), flush)
        except TraceError:
            self._mute()  # a record is missing: whatever would follow could not be understood
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
        if self._first_ns is None:
            self._first_ns = t_ns
        delta = t_ns - self._first_ns - self._now
        if delta >= 100 and not self._exact:
            unit = _UNITS[len(str(delta))]
            delta = (delta + unit // 2) // unit * unit
        self._now += delta
        return delta

    def _on(self, thread: int) -> list[int]:
        """Make a thread the current one; its open frames."""
        if thread != self._thread:
            self._thread = thread
            self._lines.append(f'["t",{thread}]')
        return self._stacks.setdefault(thread, [])

    def _file(self, path: str) -> int:
        return self._define("f", path, lambda: [path])

    # ---- the interface ------------------------------------------------------------------------------------------

    def site(
        self, name: str, layer: str, params: Sequence[str] = (), file: str = "", line: int = 0, guard: str | None = None
    ) -> int:
        key = (name, layer, tuple(params), file, line, guard)
        with self._lock:
            number = self._site_keys.get(key)
            if number is None:
                number = self._site_keys[key] = len(self._sites)
                self._sites.append(key)
            return number

    def _site(self, number: int) -> int:
        known = self._tables["s"].get(number)
        if known is not None:
            return known
        name, layer, params, file, line, guard = self._sites[number]
        path = self._file(file)
        return self._define("s", number, lambda: [name, layer, params, path, line, guard])

    def begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Value],
        t_ns: int,
        line: int | None = None,
        python: Sequence[tuple[str, int, str]] = (),
        derived: bool = False,
    ) -> None:
        if type(args) is Encoded and type(python) is tuple and not derived:
            with self._lock:
                call = self._quick.get((site_key, args.text, line, python))
                if call is not None and self._is_next(frame_id, parent_id, thread):
                    self._busy = True
                    try:
                        self._enter(frame_id, thread, call, self._delta(t_ns), args.numbers)
                    finally:
                        self._busy = False
                    if self._late:
                        self._do(_nothing)
                    return
        self._do(self._begin, frame_id, parent_id, thread, site_key, args, t_ns, line, python, derived)

    def _is_next(self, frame_id: int, parent_id: int | None, thread: int) -> bool:
        """Whether a frame can be written in the short form at once."""
        if self._busy or self._closed or thread != self._thread or frame_id != self._frames.last() + 1:
            return False
        open_frames = self._stacks.get(thread)
        return bool(open_frames) and open_frames[-1] == parent_id  # type: ignore[index]

    def _enter(self, frame_id: int, thread: int, call: int, delta: int, numbers: list[int]) -> None:
        open_frames = self._stacks[thread]
        open_frames.append(frame_id)
        self._open[frame_id] = thread
        self._frames.add(frame_id)
        self._write(f"[{BEGIN},{call},{delta}{''.join([f',{n}' for n in numbers])}]", False)

    def _begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Value],
        t_ns: int,
        line: int | None,
        python: Sequence[tuple[str, int, str]],
        derived: bool,
    ) -> None:
        if self._frames.find(frame_id) is not None:
            raise TraceError(f"frame {frame_id} has begun before")
        if parent_id is not None:
            self._begun(parent_id)
        if not 0 <= site_key < len(self._sites):
            raise TraceError(f"no site has the key {site_key}")
        site = self._site(site_key)
        if type(args) is Encoded:
            value, numbers = self._text(args.text, [*map(str, args.numbers)])
        else:
            value, numbers = self._value(list(args))
        place = (line, *map(tuple, python))
        where = self._tables["@"].get(place)
        if where is None:
            stack = [self._python(entry) for entry in place[1:]]
            where = self._define("@", place, lambda: [line, stack])
        open_frames = self._on(thread)
        call = self._call((site, value, where))
        if type(args) is Encoded and type(python) is tuple:
            self._quick[site_key, args.text, line, python] = call
        delta = self._delta(t_ns)
        top = open_frames[-1] if open_frames else None
        if frame_id == self._frames.last() + 1 and parent_id == top and not derived:
            text = f"[{BEGIN},{call},{delta}{',' if numbers else ''}{','.join(numbers)}]"
        else:
            parent = "null" if parent_id is None else parent_id
            text = f'["b",{frame_id},{parent},{call},{delta},{int(derived)},[{",".join(numbers)}]]'
        open_frames.append(frame_id)
        self._open[frame_id] = thread
        self._frames.add(frame_id)
        self._write(text, len(open_frames) == 1)

    def _call(self, call: tuple[int, int, int]) -> int:
        number = self._calls.get(call)
        if number is None:
            number = self._calls[call] = self._call_count
            self._call_count += 1
            self._lines.append(f'["c",{call[0]},{call[1]},{call[2]}]')
        return number

    def _python(self, entry: Any) -> int:
        file, line, function = entry
        path = self._file(file)
        return self._define("p", (file, line, function), lambda: [path, line, function])

    def _begun(self, frame_id: int) -> None:
        if self._frames.find(frame_id) is None:
            raise TraceError(f"frame {frame_id} has not begun")

    def _opened(self, frame_id: int) -> list[int]:
        thread = self._open.get(frame_id)
        if thread is None:
            raise TraceError(f"frame {frame_id} is not open")
        return self._on(thread)

    def _forget(self, open_frames: list[int], frame_id: int) -> None:
        del self._open[frame_id]
        if open_frames[-1] == frame_id:
            open_frames.pop()
        else:
            open_frames.remove(frame_id)

    def end(self, frame_id: int, t_ns: int, result: Value = None) -> None:
        if type(result) is Encoded:
            text = f"[{result.text}]"
            with self._lock:
                value = self._values.get(text)
                open_frames = self._stacks.get(self._thread)
                idle = not (self._busy or self._closed)
                if idle and value is not None and open_frames and open_frames[-1] == frame_id:
                    self._busy = True
                    try:
                        open_frames.pop()
                        del self._open[frame_id]
                        numbers = "".join([f",{n}" for n in result.numbers])
                        self._write(f"[{END},{value},{self._delta(t_ns)}{numbers}]", not open_frames)
                    finally:
                        self._busy = False
                    if self._late:
                        self._do(_nothing)
                    return
        self._do(self._end, frame_id, t_ns, result)

    def _end(self, frame_id: int, t_ns: int, result: Value) -> None:
        open_frames = self._opened(frame_id)
        if type(result) is Encoded:
            value, numbers = self._text(f"[{result.text}]", [*map(str, result.numbers)])
        else:
            value, numbers = self._value([result])
        delta = self._delta(t_ns)
        if open_frames[-1] == frame_id:
            text = f"[{END},{value},{delta}{',' if numbers else ''}{','.join(numbers)}]"
        else:
            text = f'["e",{frame_id},{value},{delta},[{",".join(numbers)}]]'
        self._forget(open_frames, frame_id)
        self._write(text, not open_frames)

    def fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        self._do(self._fail, frame_id, t_ns, exc_type, message)

    def _fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        open_frames = self._opened(frame_id)
        text = dump(["x", frame_id, self._delta(t_ns), exc_type, message])
        self._forget(open_frames, frame_id)
        self._write(text, True)

    def hop(
        self,
        hop_id: int,
        frame_id: int,
        *,
        kind: str,
        op: str,
        keyset: tuple[int, Sequence[str]],
        key: str,
        kernel: str = "",
        kernel_debug: str = "",
        reason: str = "",
        arg_keysets: Sequence[tuple[str, Sequence[str]]] = (),
        tls_include: Sequence[str] = (),
        tls_exclude: Sequence[str] = (),
        fallthrough: Sequence[str] = (),
        derived: bool = False,
    ) -> None:
        made: tuple[Any, ...] = (
            kind, op, keyset, arg_keysets, tls_include, tls_exclude, fallthrough, key, kernel, kernel_debug, reason,
            derived,
        )  # fmt: skip
        try:
            hash(made)
        except TypeError:
            made = decision(*made)
            made = (*made[:2], (made[2].raw, made[2].names), *made[3:])
        self._do(self._hop, hop_id, frame_id, made)

    def _hop(self, hop_id: int, frame_id: int, made: tuple[Any, ...]) -> None:
        self._begun(frame_id)
        if self._hops.find(hop_id) is not None:
            raise TraceError(f"hop {hop_id} appears twice")
        number = self._tables["d"].get(made)
        if number is None:
            number = self._decision(made)
        open_frames = self._on(self._open.get(frame_id, self._thread))
        if hop_id == self._hops.last() + 1 and open_frames and open_frames[-1] == frame_id:
            text = f"[{HOP},{number}]"
        else:
            text = f'["h",{hop_id},{frame_id},{number}]'
        self._hops.add(hop_id)
        self._write(text, True)

    def _keys(self, names: Sequence[str]) -> int:
        return self._define("k", tuple(names), lambda: list(names))

    def _decision(self, made: tuple[Any, ...]) -> int:
        kind, op, (raw, names), arg_keysets, include, exclude, fallthrough, key, kernel, debug, reason, derived = made
        keys = self._keys(names)
        arguments = [[name, self._keys(keys)] for name, keys in arg_keysets]
        sets = [self._keys(some) for some in (include, exclude, fallthrough)]
        row = [kind, op, raw, keys, arguments, *sets, key, kernel, debug, reason, int(derived)]
        return self._define("d", made, lambda: row)

    def detail(self, frame_id: int, name: str, value: Value) -> None:
        self._do(self._detail, frame_id, name, value)

    def _detail(self, frame_id: int, name: str, value: Value) -> None:
        self._begun(frame_id)
        if type(value) is Encoded:
            number, numbers = self._text(f"[{dump(name)},{value.text}]", [*map(str, value.numbers)])
        else:
            number, numbers = self._value([name, value])
        open_frames = self._on(self._open.get(frame_id, self._thread))
        if open_frames and open_frames[-1] == frame_id:
            text = f"[{DETAIL},{number}{',' if numbers else ''}{','.join(numbers)}]"
        else:
            text = f'["i",{frame_id},{number},[{",".join(numbers)}]]'
        self._write(text, False)

    def node(
        self,
        node_id: int,
        name: str,
        sequence_nr: int | None,
        edges: Sequence[tuple[int | None, int]],
        saved: Mapping[str, Value],
        created_by: int | None = None,
        variable: int | None = None,
    ) -> None:
        kept = {key: decode(value) if type(value) is Encoded else value for key, value in saved.items()}
        row = ["n", node_id, name, sequence_nr, list(edges), kept, created_by, variable]
        self._do(self._node, node_id, created_by, row)

    def _node(self, node_id: int, created_by: int | None, row: list[Any]) -> None:
        if node_id in self._nodes:
            raise TraceError(f"node {node_id} appears twice")
        if created_by is not None:
            self._begun(created_by)
        self._nodes.add(node_id)
        self._write(dump(row), True)

    def node_ran(self, node_id: int, frame_id: int) -> None:
        self._do(self._node_ran, node_id, frame_id)

    def _node_ran(self, node_id: int, frame_id: int) -> None:
        if node_id not in self._nodes:
            raise TraceError(f"node {node_id} runs before it was announced")
        self._begun(frame_id)
        self._write(dump(["r", node_id, frame_id]), False)

    def warning(self, category: str, message: str, frame_id: int | None = None) -> None:
        self._do(self._warning, category, message, frame_id)

    def _warning(self, category: str, message: str, frame_id: int | None) -> None:
        if frame_id is not None:
            self._begun(frame_id)
        self._write(dump(["w", category, message, frame_id]), True)

    def close(self, status: int = 0, error: tuple[str, str] | None = None) -> None:
        """Record the exit and close the file."""
        self._do(self._close, status, error)

    def _close(self, status: int, error: tuple[str, str] | None) -> None:
        self._write(dump(["z", status, error]), False)
        self.abandon()

    def abandon(self) -> None:
        """Close the file without an exit: it stays marked as truncated."""
        if not self._closed:
            self._closed = True
            self._out.close()

    def _mute(self) -> None:
        self._closed = True
        self._out.release()
        self._lock = threading.RLock()  # another thread may have held the old one when this process was forked
        self._busy = False
