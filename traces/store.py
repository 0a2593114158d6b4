"""Where a trace lives in memory: columns of small integers, from which records are made when someone looks.

A million hops open in seconds because nothing but these columns is built; `Records` is the list that a reader sees.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from traces.errors import TraceError
from traces.model import Edge, Frame, Hop, KeySet, Node, PyFrame, Site, WarningRecord
from traces.values import Value

__all__ = ["OPEN", "VOLATILE", "Call", "Decision", "Ids", "Records", "Store", "Where", "fill", "holes"]

T = TypeVar("T")

VOLATILE = ("$", "version", "storage", "offset", "view_of")
"""Keys of a value whose numbers a file keeps apart from it (a 0 stands in), so that equal shapes are stored once."""

OPEN = -(1 << 63)

Where = tuple[int | None, tuple[PyFrame, ...]]
Call = tuple[int, int, int]  # site, args (into values), where
Decision = tuple[Any, ...]  # the fields of Hop after ``frame``


class Records(Sequence[T], Generic[T]):
    """A list of records made on demand; kept once the trace is complete."""

    __slots__ = ("_cache", "_closed", "_count", "_make")

    def __init__(self, make: Callable[[int], T], count: Callable[[], int], closed: Callable[[], bool]) -> None:
        self._make = make
        self._count = count
        self._closed = closed
        self._cache: dict[int, T] = {}

    def __len__(self) -> int:
        return self._count()

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"record {index} of {len(self)}")
        record = self._cache.get(index)
        if record is None:
            record = self._make(index)
            if self._closed():
                self._cache[index] = record
        return record

    def __iter__(self) -> Iterator[T]:
        for index in range(len(self)):
            yield self[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:3]))}{', …' if len(self) > 3 else ''}]"


class Ids:
    """Ids of records in order of appearance. While they are 0, 1, 2, … nothing is stored."""

    __slots__ = ("count", "ids", "positions")

    def __init__(self) -> None:
        self.count = 0
        self.ids: list[int] | None = None
        self.positions: dict[int, int] = {}

    def add(self, new: int) -> int:
        """Append an id; its position. TraceError when it was there before."""
        if self.ids is None:
            if new == self.count:
                self.count += 1
                return new
            self.ids = list(range(self.count))
            self.positions = {i: i for i in self.ids}
        if new in self.positions:
            raise TraceError(f"id {new} appears twice")
        self.positions[new] = self.count
        self.ids.append(new)
        self.count += 1
        return self.count - 1

    def last(self) -> int:
        if not self.count:
            return -1
        return self.count - 1 if self.ids is None else self.ids[-1]

    def find(self, wanted: int) -> int | None:
        """The position of an id."""
        if self.ids is None:
            return wanted if 0 <= wanted < self.count else None
        return self.positions.get(wanted)

    def at(self, position: int) -> int:
        return position if self.ids is None else self.ids[position]


def holes(value: Value) -> int:
    """How many numbers `fill` takes for a value."""
    count = 0
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            for key, inner in item.items():
                if key in VOLATILE and type(inner) is int and inner == 0:
                    count += 1
                else:
                    pending.append(inner)
    return count


def fill(value: Value, numbers: Iterator[int]) -> Value:
    """A copy of a value with the zeros of its volatile keys replaced, in order, by ``numbers``."""
    if isinstance(value, list):
        return [fill(item, numbers) if isinstance(item, list | dict) else item for item in value]
    filled: dict[str, Value] = {}
    for key, item in value.items():
        if key in VOLATILE and type(item) is int and item == 0:
            filled[key] = next(numbers)
        else:
            filled[key] = fill(item, numbers) if isinstance(item, list | dict) else item
    return filled


class NodeDraft:
    """A node while frames may still be added to ``ran_in``."""

    __slots__ = ("created_by", "edges", "id", "name", "ran_in", "saved", "sequence_nr", "variable")

    def __init__(
        self,
        id: int,
        name: str,
        sequence_nr: int | None,
        edges: tuple[Edge, ...],
        saved: dict[str, Value],
        created_by: int | None,
        variable: int | None,
    ) -> None:
        self.id = id
        self.name = name
        self.sequence_nr = sequence_nr
        self.edges = edges
        self.saved = saved
        self.created_by = created_by
        self.variable = variable
        self.ran_in: list[int] = []


class Store:
    """The columns. Frames and hops are known here by position; their ids by `Ids`."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.sites: list[Site] = []
        self.values: list[list[Value]] = []
        self.holes: list[int] = []  # of each value, how many of ``numbers`` it takes
        self.numbers = array("q")
        self.wheres: list[Where] = []
        self.calls: list[Call] = []
        self.decisions: list[Decision] = []

        self.frame_ids = Ids()
        self.f_parent = array("q")  # position, -1 for none
        self.f_thread = array("q")
        self.f_call = array("q")
        self.f_args_at = array("q")  # where in ``numbers`` those of the arguments are
        self.f_start = array("q")
        self.f_end = array("q")  # OPEN: it has not ended
        self.f_result = array("q")  # into values, -1 for none
        self.f_result_at = array("q")
        self.f_derived: set[int] = set()
        self.f_error: dict[int, tuple[str, str]] = {}
        self.f_details: dict[int, dict[str, Value]] = {}

        self.hop_ids = Ids()
        self.h_frame = array("q")
        self.h_decision = array("q")

        self.node_drafts: dict[int, NodeDraft] = {}
        self.node_order: list[NodeDraft] = []
        self.warnings: list[WarningRecord] = []

        self.truncated = True  # until an exit is seen
        self.complete = False  # no record will be added any more
        self.exit_status: int | None = None
        self.error: tuple[str, str] | None = None

    def begin(
        self,
        frame_id: int,
        parent: int,
        thread: int,
        call: int,
        numbers: Sequence[int],
        start_ns: int,
        derived: bool,
    ) -> int:
        position = self.frame_ids.add(frame_id)
        self.f_parent.append(parent)
        self.f_thread.append(thread)
        self.f_call.append(call)
        self.f_args_at.append(len(self.numbers))
        self.numbers.extend(numbers)
        self.f_start.append(start_ns)
        if len(self.f_end) == position:  # otherwise `Rows` has made room ahead
            self.f_end.append(OPEN)
            self.f_result.append(-1)
            self.f_result_at.append(0)
        if derived:
            self.f_derived.add(position)
        return position

    def add_hop(self, hop_id: int, frame: int, decision: int) -> int:
        position = self.hop_ids.add(hop_id)
        self.h_frame.append(frame)
        self.h_decision.append(decision)
        return position

    def add_node(self, draft: NodeDraft) -> None:
        if draft.id in self.node_drafts:
            raise TraceError(f"node {draft.id} appears twice")
        self.node_drafts[draft.id] = draft
        self.node_order.append(draft)

    def ran(self, node_id: int, frame_id: int) -> None:
        draft = self.node_drafts.get(node_id)
        if draft is None:
            raise TraceError(f"node {node_id} runs before it was announced")
        draft.ran_in.append(frame_id)

    def end(self, position: int, end_ns: int, value: int = -1, numbers: Sequence[int] = ()) -> None:
        """A frame ends; ``value`` is its result, or none."""
        self.f_end[position] = end_ns
        self.f_result[position] = value
        self.f_result_at[position] = len(self.numbers)
        self.numbers.extend(numbers)

    def add_value(self, value: list[Value], count: int = 0) -> int:
        """The number of a new value with ``count`` holes."""
        self.values.append(value)
        self.holes.append(count)
        return len(self.values) - 1

    def end_ns(self, position: int) -> int | None:
        end = self.f_end[position]
        return None if end == OPEN else end

    def numbers_at(self, value: int, start: int) -> array[int]:
        return self.numbers[start : start + self.holes[value]]

    def _value(self, index: int, start: int) -> list[Value]:
        value = self.values[index]
        if self.holes[index]:
            filled = fill(value, iter(self.numbers_at(index, start)))
            assert isinstance(filled, list)
            return filled
        return value

    def site_of(self, position: int) -> int:
        """The number of the site of a frame."""
        return self.calls[self.f_call[position]][0]

    def where_of(self, position: int) -> Where:
        """From where a frame was entered."""
        return self.wheres[self.calls[self.f_call[position]][2]]

    def make_frame(self, position: int) -> Frame:
        parent = self.f_parent[position]
        site, args, where = self.calls[self.f_call[position]]
        line, python = self.wheres[where]
        result = self.f_result[position]
        return Frame(
            id=self.frame_ids.at(position),
            parent=None if parent < 0 else self.frame_ids.at(parent),
            thread=self.f_thread[position],
            site=self.sites[site],
            args=tuple(self._value(args, self.f_args_at[position])),
            start_ns=self.f_start[position],
            end_ns=self.end_ns(position),
            result=None if result < 0 else self._value(result, self.f_result_at[position])[0],
            error=self.f_error.get(position),
            line=line,
            python=python,
            details=self.f_details.get(position, {}),
            derived=position in self.f_derived,
        )

    def make_hop(self, position: int) -> Hop:
        return Hop(
            self.hop_ids.at(position),
            self.frame_ids.at(self.h_frame[position]),
            *self.decisions[self.h_decision[position]],
        )

    def make_node(self, position: int) -> Node:
        draft = self.node_order[position]
        return Node(
            draft.id,
            draft.name,
            draft.sequence_nr,
            draft.edges,
            draft.saved,
            draft.created_by,
            draft.variable,
            tuple(draft.ran_in),
        )


def decision(
    kind: str,
    op: str,
    keyset: tuple[int, Sequence[str]],
    arg_keysets: Sequence[tuple[str, Sequence[str]]],
    tls_include: Sequence[str],
    tls_exclude: Sequence[str],
    fallthrough: Sequence[str],
    key: str,
    kernel: str,
    kernel_debug: str,
    reason: str,
    derived: bool,
) -> Decision:
    """The fields of a Hop after its frame, as tuples all the way down."""
    raw, names = keyset
    return (
        kind,
        op,
        KeySet(raw, tuple(names)),
        tuple((name, tuple(keys)) for name, keys in arg_keysets),
        tuple(tls_include),
        tuple(tls_exclude),
        tuple(fallthrough),
        key,
        kernel,
        kernel_debug,
        reason,
        derived,
    )
