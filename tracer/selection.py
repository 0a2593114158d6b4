"""A sink before the sink: lets pass what a predicate wants, what led to it and what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traces.predicates import Facts, Predicate

from traces import Sink

__all__ = ["Selection"]


class Selection:
    """Holds the beginnings of frames back until something in them is wanted; then they are told in order."""

    def __init__(self, sink: Sink, wanted: Predicate) -> None:
        self._sink = sink
        self._wants = wanted
        self._sites: dict[int, tuple[str, str, str]] = {}
        self._held: dict[int, list[Callable[[], None]]] = {}  # frame -> what was said of it, its beginning first
        self._above: dict[int, int | None] = {}
        self._threads: dict[int, int] = {}
        self._inside: set[int] = set()  # open frames that are wanted or lie in one that is
        self._nodes: set[int] = set()

    def site(
        self, name: str, layer: str, params: Sequence[str] = (), file: str = "", line: int = 0, guard: str | None = None
    ) -> int:
        key = self._sink.site(name, layer, params, file, line, guard)
        self._sites[key] = (name, layer, file)
        return key

    def begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Any],
        t_ns: int,
        line: int | None = None,
        python: Sequence[tuple[str, int, str]] = (),
        derived: bool = False,
    ) -> None:
        def tell() -> None:
            self._sink.begin(frame_id, parent_id, thread, site_key, args, t_ns, line, python, derived)

        if parent_id in self._inside:
            self._inside.add(frame_id)
            tell()
            return
        self._held[frame_id] = [tell]
        self._above[frame_id] = parent_id
        self._threads[frame_id] = thread
        name, layer, file = self._sites[site_key]
        place = python[0][:2] if python else (file, line)
        if self._wants.matches(Facts(name=name, layer=layer, thread=thread, file=place[0], line=place[1])):
            self._release(frame_id)

    def end(self, frame_id: int, t_ns: int, result: Any = None) -> None:
        if self._leave(frame_id):
            self._sink.end(frame_id, t_ns, result)

    def fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        if self._leave(frame_id):
            self._sink.fail(frame_id, t_ns, exc_type, message)

    def hop(self, hop_id: int, frame_id: int, **facts: Any) -> None:
        if frame_id in self._held:
            self._held[frame_id].append(lambda: self._sink.hop(hop_id, frame_id, **facts))
            thread = self._threads[frame_id]
            if self._wants.matches(Facts(op=facts["op"], key=facts["key"], kind=facts["kind"], thread=thread)):
                self._release(frame_id)
        else:
            self._sink.hop(hop_id, frame_id, **facts)

    def detail(self, frame_id: int, name: str, value: Any) -> None:
        if frame_id in self._held:
            self._held[frame_id].append(lambda: self._sink.detail(frame_id, name, value))
        else:
            self._sink.detail(frame_id, name, value)

    def node(
        self,
        node_id: int,
        name: str,
        sequence_nr: int | None,
        edges: Sequence[tuple[int | None, int]],
        saved: Mapping[str, Any],
        created_by: int | None = None,
        variable: int | None = None,
    ) -> None:
        if created_by not in self._held:
            self._nodes.add(node_id)
            self._sink.node(node_id, name, sequence_nr, edges, saved, created_by, variable)

    def node_ran(self, node_id: int, frame_id: int) -> None:
        if node_id in self._nodes and frame_id not in self._held:
            self._sink.node_ran(node_id, frame_id)

    def warning(self, category: str, message: str, frame_id: int | None = None) -> None:
        if frame_id in self._held:
            frame_id = None
        self._sink.warning(category, message, frame_id)

    def close(self, status: int = 0, error: tuple[str, str] | None = None) -> None:
        self._sink.close(status, error)

    def _leave(self, frame_id: int) -> bool:
        """Forget a frame that ends; whether the sink knows it."""
        self._inside.discard(frame_id)
        self._above.pop(frame_id, None)
        self._threads.pop(frame_id, None)
        return self._held.pop(frame_id, None) is None

    def _release(self, frame_id: int) -> None:
        chain: list[int] = []
        at: int | None = frame_id
        while at is not None and at in self._held:
            chain.append(at)
            at = self._above[at]
        for held in reversed(chain):
            for tell in self._held.pop(held):
                tell()
        self._inside.add(frame_id)
