"""A sink before the sink: lets pass while recording what `traces.passes.filter.only` would keep of the whole trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traces import Sink
from traces.predicates import Facts, Predicate

__all__ = ["Selection"]


class _Held:
    """A frame of which the sink has not been told: what to tell, and what a predicate may ask."""

    __slots__ = ("facts", "judged", "parent", "tell", "wanted", "within")

    def __init__(self, parent: int | None, within: bool, facts: Facts, begin: Callable[[], None]) -> None:
        self.parent = parent
        self.within = within
        self.facts = facts
        self.tell = [begin]
        self.judged = False
        self.wanted = False  # the sink is to be told of it


class Selection:
    """Keeps the hops and frames that match, the frames that led to them, and those that a kept hop's kernel enters.

    Whether a frame is a dispatcher step is known only when its hop comes or something else happens in it first; till
    then, and until something in it is kept, its beginning is held back.
    """

    def __init__(self, sink: Sink, wanted: Predicate) -> None:
        self._sink = sink
        self._wants = wanted
        self._sites: dict[int, tuple[str, str, str, int]] = {}
        self._held: dict[int, _Held] = {}
        self._inside: set[int] = set()  # open frames of a kept hop's kernel
        self._stacks: dict[int, tuple[tuple[str, int], ...]] = {}  # open frame -> the user's lines that led to it
        self._nodes: set[int] = set()

    def site(
        self, name: str, layer: str, params: Sequence[str] = (), file: str = "", line: int = 0, guard: str | None = None
    ) -> int:
        key = self._sink.site(name, layer, params, file, line, guard)
        self._sites[key] = (name, layer, file, line)
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
        if parent_id is not None:
            self._judge(parent_id)
        stack = tuple([entry[:2] for entry in python])
        if not stack and parent_id is not None:
            stack = self._stacks.get(parent_id, ())
        self._stacks[frame_id] = stack
        name, layer, file, at = self._sites[site_key]
        self._held[frame_id] = _Held(
            parent_id,
            parent_id in self._inside,
            Facts(name=name, layer=layer, thread=thread, file=file, line=at, stack=stack),
            lambda: self._sink.begin(frame_id, parent_id, thread, site_key, args, t_ns, line, python, derived),
        )

    def end(self, frame_id: int, t_ns: int, result: Any = None) -> None:
        if self._leave(frame_id):
            self._sink.end(frame_id, t_ns, result)

    def fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        if self._leave(frame_id):
            self._sink.fail(frame_id, t_ns, exc_type, message)

    def hop(self, hop_id: int, frame_id: int, **facts: Any) -> None:
        held = self._held.get(frame_id)
        if held is None:
            return
        held.judged = True
        asked = held.facts
        asked.op, asked.key, asked.kind, asked.hop = facts["op"], facts["key"], facts["kind"], hop_id
        if self._wants.matches(asked):
            self._release(frame_id)
            self._inside.add(frame_id)
            self._sink.hop(hop_id, frame_id, **facts)

    def detail(self, frame_id: int, name: str, value: Any) -> None:
        self._say(frame_id, lambda: self._sink.detail(frame_id, name, value))

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
        def tell() -> None:
            self._nodes.add(node_id)
            self._sink.node(node_id, name, sequence_nr, edges, saved, created_by, variable)

        if created_by is None:
            tell()
        else:
            self._say(created_by, tell)

    def node_ran(self, node_id: int, frame_id: int) -> None:
        def tell() -> None:
            if node_id in self._nodes:
                self._sink.node_ran(node_id, frame_id)

        self._say(frame_id, tell)

    def warning(self, category: str, message: str, frame_id: int | None = None) -> None:
        if frame_id is None:
            self._sink.warning(category, message, None)
        else:
            self._say(frame_id, lambda: self._sink.warning(category, message, frame_id))

    def close(self, status: int = 0, error: tuple[str, str] | None = None) -> None:
        self._sink.close(status, error)

    def _say(self, frame_id: int, tell: Callable[[], None]) -> None:
        """Say something about a frame: now, or when the sink learns of the frame."""
        held = self._held.get(frame_id)
        if held is None:
            tell()
        else:
            held.tell.append(tell)

    def _judge(self, frame_id: int) -> None:
        """A frame in which something happened before any hop is no dispatcher step."""
        held = self._held.get(frame_id)
        if held is None or held.judged:
            return
        held.judged = True
        if held.within:
            self._inside.add(frame_id)
        if held.within or self._wants.matches(held.facts):
            self._release(frame_id)

    def _leave(self, frame_id: int) -> bool:
        """A frame ends; whether the sink knows it."""
        self._judge(frame_id)
        held = self._held.get(frame_id)
        if held is not None and held.wanted:
            self._release(frame_id)
        self._inside.discard(frame_id)
        self._stacks.pop(frame_id, None)
        return self._held.pop(frame_id, None) is None

    def _release(self, frame_id: int) -> None:
        """Tell of a frame, of those around it first."""
        chain: list[tuple[int, _Held]] = []
        at: int | None = frame_id
        while at is not None and (held := self._held.get(at)) is not None:
            held.judged = held.wanted = True
            chain.append((at, held))
            at = held.parent
        for at, held in reversed(chain):
            while held.tell:  # a RecursionError leaves the rest to be told another time
                held.tell[0]()
                del held.tell[0]
            self._held.pop(at, None)
