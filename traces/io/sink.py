"""What a recorder speaks to: `Sink`, and `TraceBuilder`, the sink that keeps the trace in memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from traces.errors import TraceError
from traces.io.format import FORMAT, VERSION
from traces.io.text import decode
from traces.model import Edge, PyFrame, Site, WarningRecord
from traces.store import NodeDraft, Store, decision
from traces.trace import Trace
from traces.values import Encoded, Value

__all__ = ["Sink", "TraceBuilder"]

PyStack = Sequence[tuple[str, int, str]]
Names = Sequence[str]


class Sink(Protocol):
    """The events of a trace, in the order in which they happen."""

    def site(
        self, name: str, layer: str, params: Names = (), file: str = "", line: int = 0, guard: str | None = None
    ) -> int:
        """The key of a site, for `begin`."""
        ...

    def begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Value],
        t_ns: int,
        line: int | None = None,
        python: PyStack = (),
        derived: bool = False,
    ) -> None: ...

    def end(self, frame_id: int, t_ns: int, result: Value = None) -> None: ...

    def fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None: ...

    def hop(
        self,
        hop_id: int,
        frame_id: int,
        *,
        kind: str,
        op: str,
        keyset: tuple[int, Names],
        key: str,
        kernel: str = "",
        kernel_debug: str = "",
        reason: str = "",
        arg_keysets: Sequence[tuple[str, Names]] = (),
        tls_include: Names = (),
        tls_exclude: Names = (),
        fallthrough: Names = (),
        derived: bool = False,
    ) -> None: ...

    def detail(self, frame_id: int, name: str, value: Value) -> None: ...

    def node(
        self,
        node_id: int,
        name: str,
        sequence_nr: int | None,
        edges: Sequence[tuple[int | None, int]],
        saved: Mapping[str, Value],
        created_by: int | None = None,
        variable: int | None = None,
    ) -> None: ...

    def node_ran(self, node_id: int, frame_id: int) -> None: ...

    def warning(self, category: str, message: str, frame_id: int | None = None) -> None: ...

    def close(self, status: int = 0, error: tuple[str, str] | None = None) -> None: ...


class TraceBuilder:
    """Builds `trace` while events arrive; ``trace`` may be read at any moment and is complete after `close`."""

    def __init__(self, header: Mapping[str, Any] | None = None) -> None:
        self._store = Store({"format": FORMAT, "version": VERSION, **(header or {})})
        self._lock = threading.RLock()
        self._sites: dict[Site, int] = {}
        self._wheres: dict[tuple[Any, ...], int] = {}
        self._decisions: dict[tuple[Any, ...], int] = {}
        self._texts: dict[str, int] = {}
        self._calls: dict[tuple[int, int, int], int] = {}
        self._first_ns: int | None = None
        self.trace = Trace(self._store)

    def _since(self, t_ns: int) -> int:
        if self._first_ns is None:
            self._first_ns = t_ns
        return t_ns - self._first_ns

    def _frame(self, frame_id: int) -> int:
        position = self._store.frame_ids.find(frame_id)
        if position is None:
            raise TraceError(f"frame {frame_id} has not begun")
        return position

    def site(
        self, name: str, layer: str, params: Names = (), file: str = "", line: int = 0, guard: str | None = None
    ) -> int:
        made = Site(name, layer, tuple(params), file, line, guard)
        with self._lock:
            key = self._sites.get(made)
            if key is None:
                key = self._sites[made] = len(self._store.sites)
                self._store.sites.append(made)
            return key

    def begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Value],
        t_ns: int,
        line: int | None = None,
        python: PyStack = (),
        derived: bool = False,
    ) -> None:
        with self._lock:
            store = self._store
            if store.complete:
                return
            place = (line, *map(tuple, python))
            where = self._wheres.get(place)
            if where is None:
                where = self._wheres[place] = len(store.wheres)
                store.wheres.append((line, tuple(PyFrame(*entry) for entry in python)))
            parent = -1 if parent_id is None else self._frame(parent_id)
            if type(args) is Encoded:
                made = (site_key, self._text(args.text, args.numbers), where)
                call = self._calls.get(made)
                if call is None:
                    call = self._calls[made] = len(store.calls)
                    store.calls.append(made)
                store.begin(frame_id, parent, thread, call, args.numbers, self._since(t_ns), derived)
                return
            store.calls.append((site_key, store.add_value(list(args)), where))
            store.begin(frame_id, parent, thread, len(store.calls) - 1, (), self._since(t_ns), derived)

    def _text(self, text: str, numbers: list[int]) -> int:
        """The number of an encoded value."""
        number = self._texts.get(text)
        if number is None:
            number = self._texts[text] = self._store.add_value(json.loads(text), len(numbers))
        return number

    def _opened(self, frame_id: int) -> int:
        position = self._frame(frame_id)
        if self._store.end_ns(position) is not None:
            raise TraceError(f"frame {frame_id} has ended before")
        return position

    def end(self, frame_id: int, t_ns: int, result: Value = None) -> None:
        with self._lock:
            store = self._store
            if not store.complete:
                position = self._opened(frame_id)
                if type(result) is Encoded:
                    value = self._text(f"[{result.text}]", result.numbers)
                    store.end(position, self._since(t_ns), value, result.numbers)
                    return
                value = -1 if result is None else store.add_value([result])
                store.end(position, self._since(t_ns), value)

    def fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        with self._lock:
            store = self._store
            if not store.complete:
                position = self._opened(frame_id)
                store.end(position, self._since(t_ns))
                store.f_error[position] = (exc_type, message)

    def hop(
        self,
        hop_id: int,
        frame_id: int,
        *,
        kind: str,
        op: str,
        keyset: tuple[int, Names],
        key: str,
        kernel: str = "",
        kernel_debug: str = "",
        reason: str = "",
        arg_keysets: Sequence[tuple[str, Names]] = (),
        tls_include: Names = (),
        tls_exclude: Names = (),
        fallthrough: Names = (),
        derived: bool = False,
    ) -> None:
        made = decision(
            kind, op, keyset, arg_keysets, tls_include, tls_exclude, fallthrough, key, kernel, kernel_debug, reason,
            derived,
        )  # fmt: skip
        with self._lock:
            if self._store.complete:
                return
            index = self._decisions.get(made)
            if index is None:
                index = self._decisions[made] = len(self._store.decisions)
                self._store.decisions.append(made)
            self._store.add_hop(hop_id, self._frame(frame_id), index)

    def detail(self, frame_id: int, name: str, value: Value) -> None:
        with self._lock:
            if not self._store.complete:
                plain = decode(value) if type(value) is Encoded else value
                self._store.f_details.setdefault(self._frame(frame_id), {})[name] = plain

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
        made = tuple(Edge(node, number) for node, number in edges)
        with self._lock:
            if not self._store.complete:
                kept = {key: decode(value) if type(value) is Encoded else value for key, value in saved.items()}
                self._store.add_node(NodeDraft(node_id, name, sequence_nr, made, kept, created_by, variable))

    def node_ran(self, node_id: int, frame_id: int) -> None:
        with self._lock:
            if not self._store.complete:
                self._store.ran(node_id, frame_id)

    def warning(self, category: str, message: str, frame_id: int | None = None) -> None:
        with self._lock:
            if not self._store.complete:
                self._store.warnings.append(WarningRecord(category, message, frame_id))

    def close(self, status: int = 0, error: tuple[str, str] | None = None) -> None:
        with self._lock:
            if not self._store.complete:
                self._store.exit_status = status
                self._store.error = error
                self._store.truncated = False
                self._store.complete = True
