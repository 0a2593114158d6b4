"""What each line of a trace file means: rows into the columns of a `Store`. FORMAT.md lists them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import itemgetter, length_hint
from typing import Any

from traces.errors import TraceError
from traces.io.format import BEGIN, DETAIL, END, HOP
from traces.model import Edge, PyFrame, Site, WarningRecord
from traces.store import OPEN, NodeDraft, Store, decision, fill, holes

__all__ = ["Rows"]

TAGS = {int, str}
FIRST = itemgetter(0)
NOT_ENDED = array("q", [OPEN])
NO_RESULT = array("q", [-1])
PLAIN = 3  # the length of a beginning or an end that gives no numbers


class _Wrong(ValueError):
    """A record that names what was not defined before, or gives too many or too few numbers."""


def _int(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _nat(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError
    return value


def _str(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _optional(check: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else check(value)


class Rows:
    """The state that lines refer to: tables, open frames, the thread, the time."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.files: list[str] = []
        self.python: list[PyFrame] = []
        self.keys: list[tuple[str, ...]] = []
        self.value_lengths: list[int] = []  # how long a record is that names the value, or the call
        self.call_lengths: list[int] = []
        self.now = 0
        self.thread = 1
        self.stacks: dict[int, list[int]] = {1: [-1]}  # of every thread the open frames, above a -1
        self.closed = False
        self.words: dict[str, Callable[..., None]] = {
            "a": self.value,
            "b": self.begin,
            "c": self.call,
            "d": self.decision,
            "e": self.end,
            "f": self.file,
            "h": self.hop,
            "i": self.detail,
            "k": self.keyset,
            "n": self.node,
            "p": self.pyframe,
            "r": self.ran,
            "s": self.site,
            "t": self.switch,
            "w": self.warning,
            "x": self.fail,
            "z": self.exit,
            "@": self.where,
        }

    def take(self, rows: list[Any], done: list[int], bools: bool = True) -> None:
        """Take rows in. After an exception ``done[0]`` is the number of the row that it is about.

        ``bools`` is false when no row has a ``true`` or ``false`` in it, which would pass for 1 and 0.

        The records of which a trace has millions are taken apart here, with as little work as can be.
        """
        if self.closed:
            raise TraceError("a record after the exit")
        if not all(rows) or not set(map(type, map(FIRST, rows))) <= TAGS:
            done[0] = next(number for number, row in enumerate(rows) if not row or row[0].__class__ not in TAGS)
            raise TraceError(f"unknown record {rows[done[0]]!r}")
        store = self.store
        value_lengths, call_lengths, decisions = self.value_lengths, self.call_lengths, store.decisions
        f_parent, f_call, f_args_at, f_start = store.f_parent, store.f_call, store.f_args_at, store.f_start
        f_end, f_result, f_result_at, numbers = store.f_end, store.f_result, store.f_result_at, store.numbers
        h_frame, h_decision = store.h_frame, store.h_decision
        f_end += NOT_ENDED * len(rows)  # room for the frames to come, cut to size below
        f_result += NO_RESULT * len(rows)
        f_result_at += NO_RESULT * len(rows)
        stack, now = self.stacks[self.thread], self.now
        counted = store.frame_ids.ids is None and store.hop_ids.ids is None  # ids are 0, 1, 2, …
        pending = iter(rows)
        try:
            for row in pending:
                tag = row[0]
                if tag == BEGIN:
                    call = row[1]
                    if len(row) != call_lengths[call] or call < 0:
                        raise _Wrong
                    now += row[2]
                    position = len(f_call)
                    f_parent.append(stack[-1])
                    f_call.append(call)
                    f_args_at.append(len(numbers))
                    f_start.append(now)
                    if len(row) > PLAIN:
                        numbers.extend(row[PLAIN:])
                    stack.append(position)
                    if not counted:
                        store.frame_ids.add(store.frame_ids.last() + 1)
                elif tag == END:
                    value = row[1]
                    if len(row) != value_lengths[value] or value < 0:
                        raise _Wrong
                    now += row[2]
                    position = stack.pop()
                    if position < 0:
                        raise TraceError(f"end of a frame, but none is open on thread {self.thread}")
                    f_end[position] = now
                    f_result[position] = value
                    if len(row) > PLAIN:
                        f_result_at[position] = len(numbers)
                        numbers.extend(row[PLAIN:])
                elif tag == HOP:
                    _, chosen = row
                    decisions[chosen]
                    if chosen < 0:
                        raise _Wrong
                    if stack[-1] < 0:
                        raise TraceError(f"a hop, but no frame is open on thread {self.thread}")
                    h_frame.append(stack[-1])
                    h_decision.append(chosen)
                    if not counted:
                        store.hop_ids.add(store.hop_ids.last() + 1)
                else:
                    self.settle(now, counted)
                    self.word(row, stack[-1])
                    if self.closed and next(pending, None) is not None:
                        raise TraceError("a record after the exit")
                    stack, now = self.stacks[self.thread], self.now
                    counted = store.frame_ids.ids is None and store.hop_ids.ids is None
            self.settle(now, counted)
        finally:
            done[0] = len(rows) - length_hint(pending) - 1
        del f_end[len(f_call) :], f_result[len(f_call) :], f_result_at[len(f_call) :]
        if bools:
            for number, row in enumerate(rows):
                if row[0].__class__ is int and set(map(type, row)) != {int}:
                    done[0] = number
                    raise TraceError(f"expected whole numbers in {row}")

    def settle(self, now: int, counted: bool) -> None:
        """Bring up to date what the loop in `take` leaves behind."""
        store = self.store
        self.now = now
        store.f_thread.extend(repeat(self.thread, len(store.f_call) - len(store.f_thread)))
        if counted:
            store.frame_ids.count = len(store.f_call)
            store.hop_ids.count = len(store.h_frame)

    def word(self, row: list[Any], innermost: int) -> None:
        """One of the less frequent records."""
        if row[0] == DETAIL:
            _, value, *numbers = row
            if innermost < 0:
                raise TraceError(f"a detail, but no frame is open on thread {self.thread}")
            self.detail_of(innermost, value, numbers)
            return
        word = self.words.get(row[0])
        if word is None:
            raise TraceError(f"unknown record {row[0]!r}")
        word(*row[1:])

    # ---- what is written once -----------------------------------------------------------------------------------

    def file(self, path: str) -> None:
        self.files.append(_str(path))

    def site(self, name: str, layer: str, params: list[str], file: int, line: int, guard: str | None) -> None:
        names = tuple(map(_str, params))
        self.store.sites.append(
            Site(_str(name), _str(layer), names, self.files[_nat(file)], _int(line), _optional(_str, guard))
        )

    def pyframe(self, file: int, line: int, function: str) -> None:
        self.python.append(PyFrame(self.files[_nat(file)], _int(line), _str(function)))

    def where(self, line: int | None, stack: list[int]) -> None:
        self.store.wheres.append((_optional(_int, line), tuple(self.python[_nat(entry)] for entry in stack)))

    def value(self, value: list[Any]) -> None:
        if not isinstance(value, list):
            raise TypeError
        count = holes(value)
        self.store.add_value(value, count)
        self.value_lengths.append(PLAIN + count)

    def keyset(self, *names: str) -> None:
        self.keys.append(tuple(map(_str, names)))

    def decision(
        self,
        kind: str,
        op: str,
        raw: int,
        keyset: int,
        arguments: list[list[Any]],
        include: int,
        exclude: int,
        fallthrough: int,
        key: str,
        kernel: str,
        debug: str,
        reason: str,
        derived: int,
    ) -> None:
        sets = [self.keys[_nat(number)] for number in (include, exclude, fallthrough)]
        args = [(_str(name), self.keys[_nat(keys)]) for name, keys in arguments]
        texts = [_str(text) for text in (key, kernel, debug, reason)]
        self.store.decisions.append(
            decision(
                _str(kind), _str(op), (_nat(raw), self.keys[_nat(keyset)]), args, sets[0], sets[1], sets[2],
                texts[0], texts[1], texts[2], texts[3], bool(_nat(derived)),
            )
        )  # fmt: skip

    # ---- what happens -------------------------------------------------------------------------------------------

    def switch(self, thread: int) -> None:
        self.thread = _int(thread)
        self.stacks.setdefault(thread, [-1])

    def frame(self, frame_id: int) -> int:
        """The position of a frame named by its id."""
        position = self.store.frame_ids.find(_int(frame_id))
        if position is None:
            raise TraceError(f"the record names frame {frame_id}, which has not begun")
        return position

    def check(self, value: int, numbers: list[int]) -> list[int]:
        """The numbers for a value, as many as it takes."""
        wanted = self.store.holes[_nat(value)]
        if wanted != len(numbers):
            raise TraceError(f"expected {wanted} tensor numbers, found {len(numbers)}")
        return [_nat(number) for number in numbers]

    def call(self, site: int, args: int, where: int) -> None:
        store = self.store
        tables = ((site, store.sites), (args, store.values), (where, store.wheres))
        if any(_nat(number) >= len(table) for number, table in tables):
            raise TraceError("the record names something not defined before")
        store.calls.append((site, args, where))
        self.call_lengths.append(self.value_lengths[args])

    def begin(self, frame_id: int, parent: int | None, call: int, delta: int, derived: int, numbers: list[int]) -> None:
        outer = -1 if parent is None else self.frame(parent)
        found = self.check(self.store.calls[_nat(call)][1], numbers)
        self.now += _int(delta)
        position = self.store.begin(_nat(frame_id), outer, self.thread, call, found, self.now, bool(_nat(derived)))
        self.stacks[self.thread].append(position)

    def end_frame(self, frame_id: int, delta: int, value: int = -1, numbers: Sequence[int] = ()) -> int:
        position = self.frame(frame_id)
        stack = self.stacks[self.store.f_thread[position]]
        if position not in stack:
            raise TraceError(f"end of frame {frame_id}, which is not open")
        stack.remove(position)
        self.now += _int(delta)
        self.store.end(position, self.now, value, numbers)
        return position

    def end(self, frame_id: int, value: int, delta: int, numbers: list[int]) -> None:
        self.end_frame(frame_id, delta, value, self.check(value, numbers))

    def fail(self, frame_id: int, delta: int, kind: str, message: str) -> None:
        error = (_str(kind), _str(message))
        self.store.f_error[self.end_frame(frame_id, delta)] = error

    def hop(self, hop_id: int, frame_id: int, chosen: int) -> None:
        if _nat(chosen) >= len(self.store.decisions):
            raise TraceError("the record names something not defined before")
        self.store.add_hop(_nat(hop_id), self.frame(frame_id), chosen)

    def detail(self, frame_id: int, value: int, numbers: list[int]) -> None:
        self.detail_of(self.frame(frame_id), value, numbers)

    def detail_of(self, position: int, value: int, numbers: list[int]) -> None:
        found = self.check(value, numbers)
        stored = self.store.values[value]
        name, content = fill(stored, iter(found)) if found else stored
        self.store.f_details.setdefault(position, {})[_str(name)] = content

    def node(
        self,
        node_id: int,
        name: str,
        sequence_nr: int | None,
        edges: list[list[Any]],
        saved: dict[str, Any],
        created_by: int | None,
        variable: int | None,
    ) -> None:
        made = tuple(Edge(_optional(_int, node), _int(number)) for node, number in edges)
        if not isinstance(saved, dict):
            raise TypeError
        if created_by is not None:
            self.frame(created_by)
        self.store.add_node(
            NodeDraft(
                _int(node_id), _str(name), _optional(_int, sequence_nr), made, saved, created_by,
                _optional(_int, variable),
            )
        )  # fmt: skip

    def ran(self, node_id: int, frame_id: int) -> None:
        self.frame(frame_id)
        self.store.ran(_int(node_id), frame_id)

    def warning(self, category: str, message: str, frame_id: int | None) -> None:
        if frame_id is not None:
            self.frame(frame_id)
        self.store.warnings.append(WarningRecord(_str(category), _str(message), frame_id))

    def exit(self, status: int, error: list[str] | None) -> None:
        if error is not None:
            kind, message = error
            self.store.error = (_str(kind), _str(message))
        self.store.exit_status = _int(status)
        self.closed = True
