"""What each line of a trace file means: rows into the columns of a `Store`. FORMAT.md lists them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from traces.errors import TraceError
from traces.io.format import BEGIN, DETAIL, END, HOP
from traces.model import Edge, PyFrame, Site, WarningRecord
from traces.store import NodeDraft, Store, decision, fill, holes

__all__ = ["Rows"]

INT = {int}


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
        self.holes: list[int] = []  # of every value
        self.call_holes: list[int] = []  # of every call's arguments
        self.now = 0
        self.thread = 1
        self.stacks: dict[int, list[int]] = {1: []}
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

    def take(self, rows: list[Any], done: list[int]) -> None:
        """Take rows in; ``done[0]`` counts them, for the line number of an error.

        The records of which a trace has millions are taken apart here, without a call.
        """
        store = self.store
        words = self.words
        tables = (store.calls, store.values, store.decisions)
        calls, values, decisions = (len(table) for table in tables)
        counts, call_counts = self.holes, self.call_holes
        f_parent, f_thread, f_call = store.f_parent, store.f_thread, store.f_call
        f_numbers, f_start, f_end = store.f_numbers, store.f_start, store.f_end
        f_result, result_numbers = store.f_result, store.f_result_numbers
        h_frame, h_decision = store.h_frame, store.h_decision
        frame_ids, hop_ids = store.frame_ids, store.hop_ids
        thread, stack, now = self.thread, self.stacks[self.thread], self.now
        frames_before, hops_before = len(f_call), len(h_frame)
        ended: list[list[int]] = []
        number = -1
        try:
            for number, row in enumerate(rows):  # noqa: B007 (read when a row fails)
                tag = row[0]
                if tag.__class__ is int and not self.closed:
                    if tag == BEGIN:
                        _, call, delta, *numbers = row
                        if not 0 <= call < calls:
                            raise TraceError(f"record names something not defined before: {row}")
                        if len(numbers) != call_counts[call]:
                            raise TraceError(f"expected {call_counts[call]} tensor numbers in {row}")
                        now += delta
                        position = len(f_call)
                        if frame_ids.ids is None:
                            frame_ids.count += 1
                        else:
                            frame_ids.add(frame_ids.last() + 1)
                        f_parent.append(stack[-1] if stack else -1)
                        f_thread.append(thread)
                        f_call.append(call)
                        f_numbers.append(numbers or None)
                        f_start.append(now)
                        f_end.append(None)
                        f_result.append(-1)
                        stack.append(position)
                    elif tag == END:
                        _, value, delta, *numbers = row
                        if not 0 <= value < values:
                            raise TraceError(f"record names something not defined before: {row}")
                        if not stack:
                            raise TraceError(f"end of a frame, but none is open on thread {thread}")
                        if len(numbers) != counts[value]:
                            raise TraceError(f"expected {counts[value]} tensor numbers in {row}")
                        now += delta
                        position = stack.pop()
                        f_end[position] = now
                        f_result[position] = value
                        if numbers:
                            result_numbers[position] = numbers
                            ended.append(numbers)
                    elif tag == HOP:
                        _, chosen = row
                        if not 0 <= chosen < decisions:
                            raise TraceError(f"record names something not defined before: {row}")
                        if hop_ids.ids is None:
                            hop_ids.count += 1
                        else:
                            hop_ids.add(hop_ids.last() + 1)
                        if not stack:
                            raise TraceError(f"a hop, but no frame is open on thread {thread}")
                        h_frame.append(stack[-1])
                        h_decision.append(chosen)
                    elif tag == DETAIL:
                        _, value, *numbers = row
                        if not stack:
                            raise TraceError(f"a detail, but no frame is open on thread {thread}")
                        self.detail_of(stack[-1], value, numbers)
                    else:
                        raise TraceError(f"unknown record {row}")
                    continue
                if self.closed:
                    raise TraceError("a record after the exit")
                word = words.get(tag) if tag.__class__ is str else None
                if word is None:
                    raise TraceError(f"unknown record {tag!r}")
                self.now = now
                word(*row[1:])
                thread, stack, now = self.thread, self.stacks[self.thread], self.now
                calls, values, decisions = (len(table) for table in tables)
        finally:
            self.now = now
            done[0] = max(number, 0)
        columns = (f_call, f_start, f_result)
        whole = all(set(map(type, column[frames_before:])) <= INT for column in columns)
        whole = whole and set(map(type, h_decision[hops_before:])) <= INT
        tensors = chain.from_iterable(filter(None, chain(f_numbers[frames_before:], ended)))
        if not (whole and set(map(type, tensors)) <= INT):
            self.find_damage(rows, done)

    def find_damage(self, rows: list[Any], done: list[int]) -> None:
        """The numbers of the frequent records are whole numbers; ``true`` and ``1.0`` passed so far."""
        for number, row in enumerate(rows):
            if row[0].__class__ is int and set(map(type, row)) != INT:
                done[0] = number
                raise TraceError(f"expected whole numbers in {row}")

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
        self.store.values.append(value)
        self.holes.append(holes(value))

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
        self.stacks.setdefault(thread, [])

    def frame(self, frame_id: int) -> int:
        """The position of a frame named by its id."""
        position = self.store.frame_ids.find(_int(frame_id))
        if position is None:
            raise TraceError(f"the record names frame {frame_id}, which has not begun")
        return position

    def values_of(self, value: int, numbers: list[int]) -> list[int]:
        if self.holes[_nat(value)] != len(numbers):
            raise TraceError(f"expected {self.holes[value]} tensor numbers, found {len(numbers)}")
        return [_nat(number) for number in numbers]

    def call(self, site: int, args: int, where: int) -> None:
        store = self.store
        tables = ((site, store.sites), (args, store.values), (where, store.wheres))
        if any(_nat(number) >= len(table) for number, table in tables):
            raise TraceError("the record names something not defined before")
        store.calls.append((site, args, where))
        self.call_holes.append(self.holes[args])

    def begin(self, frame_id: int, parent: int | None, call: int, delta: int, derived: int, numbers: list[int]) -> None:
        outer = -1 if parent is None else self.frame(parent)
        found = self.values_of(self.store.calls[_nat(call)][1], numbers)
        self.now += _int(delta)
        position = self.store.begin(
            _nat(frame_id), outer, self.thread, call, found or None, self.now, bool(_nat(derived))
        )
        self.stacks[self.thread].append(position)

    def close_frame(self, frame_id: int, delta: int) -> int:
        position = self.frame(frame_id)
        stack = self.stacks[self.store.f_thread[position]]
        if position not in stack:
            raise TraceError(f"end of frame {frame_id}, which is not open")
        stack.remove(position)
        self.now += _int(delta)
        self.store.f_end[position] = self.now
        return position

    def end(self, frame_id: int, value: int, delta: int, numbers: list[int]) -> None:
        found = self.values_of(value, numbers)
        position = self.close_frame(frame_id, delta)
        self.store.f_result[position] = value
        if found:
            self.store.f_result_numbers[position] = found

    def fail(self, frame_id: int, delta: int, kind: str, message: str) -> None:
        error = (_str(kind), _str(message))
        self.store.f_error[self.close_frame(frame_id, delta)] = error

    def hop(self, hop_id: int, frame_id: int, chosen: int) -> None:
        if _nat(chosen) >= len(self.store.decisions):
            raise TraceError("the record names something not defined before")
        self.store.add_hop(_nat(hop_id), self.frame(frame_id), chosen)

    def detail(self, frame_id: int, value: int, numbers: list[int]) -> None:
        self.detail_of(self.frame(frame_id), value, numbers)

    def detail_of(self, position: int, value: int, numbers: list[int]) -> None:
        found = self.values_of(value, numbers)
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
