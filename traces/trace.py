"""`Trace`: the records of one run, and quick ways from one to another."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from traces.errors import TraceError
from traces.model import Frame, Hop, Node, WarningRecord
from traces.store import Records, Store

if TYPE_CHECKING:
    from traces.passes.backtrace import Backtrace
    from traces.predicates import Predicate

__all__ = ["Trace"]

SHOWN = ("call", "redispatch")


class Trace:
    """A recorded run. Records are made on demand; indices are built once and kept while nothing is added."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indices: dict[str, tuple[tuple[int, int, int], Any]] = {}

        def closed() -> bool:
            return store.complete

        self.frames: Sequence[Frame] = Records(store.make_frame, lambda: store.frame_ids.count, closed)
        self.hops: Sequence[Hop] = Records(store.make_hop, lambda: store.hop_ids.count, closed)
        self.nodes: Sequence[Node] = Records(store.make_node, lambda: len(store.node_order), closed)

    @property
    def header(self) -> Mapping[str, Any]:
        return self._store.header

    @property
    def warnings(self) -> Sequence[WarningRecord]:
        return self._store.warnings

    @property
    def truncated(self) -> bool:
        """No exit was recorded: the run was killed, or is not over."""
        return self._store.truncated

    @property
    def exit_status(self) -> int | None:
        return self._store.exit_status

    @property
    def error(self) -> tuple[str, str] | None:
        """Type and message of the exception that ended the run."""
        return self._store.error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return (
            self.header == other.header
            and self.truncated == other.truncated
            and self.exit_status == other.exit_status
            and self.error == other.error
            and self.frames == other.frames
            and self.hops == other.hops
            and self.nodes == other.nodes
            and self.warnings == other.warnings
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        end = "truncated" if self.truncated else f"exit {self.exit_status}"
        return f"<Trace of {self.header.get('script')}: {len(self.hops)} hops, {len(self.frames)} frames, {end}>"

    def _index(self, name: str, build: Any) -> Any:
        stamp = (self._store.frame_ids.count, self._store.hop_ids.count, len(self._store.node_order))
        known = self._indices.get(name)
        if known is None or known[0] != stamp:
            known = self._indices[name] = (stamp, build())
        return known[1]

    # ---- lookups by id ------------------------------------------------------------------------------------------

    def _position(self, frame_id: int) -> int:
        position = self._store.frame_ids.find(frame_id)
        if position is None:
            raise TraceError(f"no frame {frame_id} in this trace ({len(self.frames)} frames)")
        return position

    def frame(self, frame_id: int) -> Frame:
        return self.frames[self._position(frame_id)]

    def hop(self, hop_id: int) -> Hop:
        position = self._store.hop_ids.find(hop_id)
        if position is None:
            raise TraceError(f"no hop {hop_id} in this trace ({len(self.hops)} hops)")
        return self.hops[position]

    def node(self, node_id: int) -> Node:
        def build() -> dict[int, int]:
            return {draft.id: i for i, draft in enumerate(self._store.node_order)}

        index: dict[int, int] = self._index("nodes", build)
        position = index.get(node_id)
        if position is None:
            raise TraceError(f"no autograd node {node_id} in this trace ({len(self.nodes)} nodes)")
        return self.nodes[position]

    def _children(self) -> dict[int, list[int]]:
        def build() -> dict[int, list[int]]:
            children: dict[int, list[int]] = {}
            for position, parent in enumerate(self._store.f_parent):
                children.setdefault(parent, []).append(position)
            return children

        index: dict[int, list[int]] = self._index("children", build)
        return index

    def children(self, frame_id: int | None) -> list[Frame]:
        """The frames entered from a frame; ``None``: those entered from Python."""
        parent = -1 if frame_id is None else self._position(frame_id)
        return [self.frames[i] for i in self._children().get(parent, ())]

    def ancestors(self, frame_id: int) -> list[Frame]:
        """The frame itself, its caller, its caller's caller, …"""
        found = []
        position = self._position(frame_id)
        while position >= 0:
            found.append(self.frames[position])
            position = self._store.f_parent[position]
        return found

    def _frame_hops(self) -> dict[int, list[int]]:
        def build() -> dict[int, list[int]]:
            index: dict[int, list[int]] = {}
            for position, frame in enumerate(self._store.h_frame):
                index.setdefault(frame, []).append(position)
            return index

        index: dict[int, list[int]] = self._index("hops", build)
        return index

    def hops_of(self, frame_id: int) -> list[Hop]:
        """The decisions made in a frame."""
        return [self.hops[i] for i in self._frame_hops().get(self._position(frame_id), ())]

    def hop_of(self, frame_id: int) -> Hop | None:
        """The (first) decision made in a frame."""
        hops = self._frame_hops().get(self._position(frame_id))
        return self.hops[hops[0]] if hops else None

    def enclosing_hop(self, frame_id: int) -> Hop | None:
        """The decision made in the frame, or else in the nearest frame outside it."""
        hops = self._frame_hops()
        position = self._position(frame_id)
        while position >= 0:
            if position in hops:
                return self.hops[hops[position][-1]]
            position = self._store.f_parent[position]
        return None

    def python_of(self, frame_id: int) -> Frame | None:
        """The nearest frame outside (or the frame itself) that was entered from Python, where its stack is known."""
        position = self._position(frame_id)
        while position >= 0:
            if self._store.where_of(position)[1]:
                return self.frames[position]
            position = self._store.f_parent[position]
        return None

    # ---- the dispatch view --------------------------------------------------------------------------------------

    def depths(self, boxed: bool = False) -> list[int]:
        """Of every frame: how many frames outside it hold a hop of a shown kind."""

        def build() -> list[int]:
            store = self._store
            shown = [boxed or fields[0] in SHOWN for fields in store.decisions]
            holding = {f for f, d in zip(store.h_frame, store.h_decision, strict=True) if shown[d]}
            depths: list[int] = []
            for parent in store.f_parent:
                depths.append(0 if parent < 0 else depths[parent] + (parent in holding))
            return depths

        depths: list[int] = self._index(f"depths {boxed}", build)
        return depths

    def depth(self, hop_id: int, boxed: bool = False) -> int:
        """How deep a hop is nested among the hops of a shown kind."""
        return self.depths(boxed)[self._position(self.hop(hop_id).frame)]

    def dispatch_text(self, boxed: bool = False) -> str:
        """The text of ``TORCH_SHOW_DISPATCH_TRACE``."""
        from traces.report import dispatch

        return "".join(line + "\n" for line in dispatch.lines(self, boxed=boxed))

    def path(self, op: str, nth: int = 1) -> list[str]:
        """The keys that the ``nth`` dispatch of an operator goes through: ``["BackendSelect", "CPU"]``."""
        from traces.passes.path import path

        return path(self, op, nth)

    # ---- what one asks of a trace -------------------------------------------------------------------------------

    def bt(self, at: str | Predicate | None = None, nth: int = 1) -> Backtrace:
        """The backtrace at a hop or frame; its ``str`` is what gdb would print."""
        from traces.passes.backtrace import backtrace

        return backtrace(self, at, nth)

    def call_graph(self, instances: bool = False) -> Any:
        """The call graph, as a networkx graph."""
        from traces.graph import call_graph

        return call_graph(self, instances)

    def autograd_graph(self) -> Any:
        """The autograd graph, as a networkx graph."""
        from traces.graph import autograd_graph

        return autograd_graph(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace file; a name that ends in ``.gz`` is compressed."""
        from traces.io.save import save

        save(self, path)
