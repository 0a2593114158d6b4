"""Many records at once, with numpy: what `Rows` does, for a stretch of lines in which nothing unusual stands.

Only a short cut. `take` leaves alone what it does not know, and raises `Unclear` for what seems wrong, without saying
what: the file is then read line by line, by `Rows`.
"""

from __future__ import annotations

import json
from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traces.errors import TraceError
from traces.io.format import BEGIN, DETAIL, END, HOP
from traces.io.rows import PLAIN, Rows
from traces.store import OPEN

__all__ = ["Unclear", "take"]

Ints = NDArray[np.int64]

# What may stand beside what in ``[0,12,-3]\n[1,4]``: digits, comma, minus, brackets, end of line, anything else.
KIND = np.full(256, 6, np.uint8)
for _kind, _letters in enumerate((b"0123456789", b",", b"-", b"[", b"]", b"\n")):
    KIND[list(_letters)] = _kind
MAY_FOLLOW = np.zeros((7, 7), np.bool_)
for _left, _right in ((0, 0), (0, 1), (0, 4), (1, 0), (1, 2), (2, 0), (3, 0), (3, 2), (4, 5), (5, 3)):
    MAY_FOLLOW[_left, _right] = True

DEFINITIONS = frozenset("fsp@ackd")
AFTERWARDS = frozenset("nrwi")  # they name frames, but leave the stacks alone
TOO_BIG = 10**18


class Unclear(Exception):
    """Something is wrong, or looks like it."""


def _sure(condition: Any) -> None:
    if not condition:
        raise Unclear


def take(rows: Rows, text: bytes) -> bool:
    """Take whole lines in; False, and nothing done, when there are lines among them that it does not know."""
    store = rows.store
    if rows.closed or store.frame_ids.ids is not None or store.hop_ids.ids is not None:
        return False
    letters = np.frombuffer(text, np.uint8)
    ends = np.append(np.flatnonzero(letters == ord("\n")), len(letters))
    starts = np.append(0, ends[:-1] + 1)
    if (ends - starts < PLAIN).any():
        return False
    frequent = letters[starts + 1] != ord('"')
    others = [text[starts[i] : ends[i]] for i in np.flatnonzero(~frequent)]
    tags = {other[2:3].decode("latin-1") for other in others}
    if not tags <= DEFINITIONS | AFTERWARDS:
        return False
    try:
        sizes = {tag: len(table) for tag, table in (("c", store.calls), ("a", store.values), ("d", store.decisions))}
        words = json.loads(b"[" + b",".join(others) + b"]")
        _sure(len(words) == len(others))
        for row in words:
            if row[0] in DEFINITIONS:
                rows.words[row[0]](*row[1:])
        if frequent.any():
            lines = np.flatnonzero(frequent)
            defined = {
                tag: size + np.searchsorted(np.flatnonzero(~frequent & (letters[starts + 2] == ord(tag))), lines)
                for tag, size in sizes.items()
            }
            _events(rows, _without(text, starts, ends, frequent) if others else text, defined)
        for row in words:
            if row[0] not in DEFINITIONS:
                rows.words[row[0]](*row[1:])
    except (TraceError, AssertionError, IndexError, KeyError, OverflowError, TypeError, ValueError, RecursionError):
        raise Unclear from None
    return True


def _without(text: bytes, starts: Ints, ends: Ints, frequent: NDArray[np.bool_]) -> bytes:
    """The lines of the frequent records only."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], frequent, [False])).astype(np.int8)))
    return b"\n".join(text[starts[first] : ends[last - 1]] for first, last in zip(edges[::2], edges[1::2], strict=True))


def _numbers(text: bytes) -> tuple[Ints, Ints]:
    """All numbers of the lines, and how many each has."""
    letters = np.frombuffer(text, np.uint8)
    kinds = KIND[letters]
    _sure(letters[0] == ord("[") and letters[-1] == ord("]") and MAY_FOLLOW[kinds[:-1], kinds[1:]].all())
    _sure(not ((kinds[:-2] != 0) & (letters[1:-1] == ord("0")) & (kinds[2:] == 0)).any())  # no leading zeros
    ends = np.flatnonzero(letters == ord("]"))
    commas = np.searchsorted(np.flatnonzero(letters == ord(",")), ends)
    lengths = np.diff(commas, prepend=0) + 1
    numbers = np.fromstring(text[1:-1].replace(b"]\n[", b","), np.int64, sep=",")
    _sure(len(numbers) == lengths.sum() and (abs(numbers) < TOO_BIG).all())
    return numbers, lengths


def _append(column: array[int], numbers: Ints) -> None:
    column.frombytes(np.ascontiguousarray(numbers, np.int64).tobytes())


def _events(rows: Rows, text: bytes, defined: dict[str, Ints]) -> None:
    """Beginnings, hops, ends and details of the current thread.

    ``defined``: of calls, values and decisions, how many are known at each row.
    """
    store = rows.store
    numbers, lengths = _numbers(text)
    first = np.cumsum(lengths) - lengths
    tags = numbers[first]
    begins, hops, ends, details = (np.flatnonzero(tags == tag) for tag in (BEGIN, HOP, END, DETAIL))
    _sure(len(begins) + len(hops) + len(ends) + len(details) == len(tags))
    _sure((lengths[begins] >= PLAIN).all() and (lengths[ends] >= PLAIN).all())
    _sure((lengths[hops] == PLAIN - 1).all() and (lengths[details] >= PLAIN - 1).all())

    calls, results, chosen = (numbers[first[some] + 1] for some in (begins, ends, hops))
    for named, some, tag in ((calls, begins, "c"), (results, ends, "a"), (chosen, hops, "d")):
        _sure(((named >= 0) & (named < defined[tag][some])).all())
    _sure((lengths[begins] == np.array(rows.call_lengths, np.int64)[calls]).all() if len(calls) else True)
    _sure((lengths[ends] == np.array(rows.value_lengths, np.int64)[results]).all() if len(results) else True)

    # The time: steps of the beginnings and ends.
    steps = np.zeros(len(tags), np.int64)
    timed = np.concatenate((begins, ends))
    steps[timed] = numbers[first[timed] + 2]
    _sure(abs(steps).sum(dtype=np.float64) < TOO_BIG)
    times = rows.now + np.cumsum(steps)

    # The stack: at which level a row stands, and which frame is the innermost at that level then.
    stack = np.array(rows.stacks[rows.thread], np.int64)  # [-1, outermost, …, innermost]
    moves = np.zeros(len(tags), np.int64)
    moves[begins], moves[ends] = 1, -1
    level = len(stack) - 1 + np.cumsum(moves)
    _sure(level.min() >= 0)
    frames = len(store.f_call) + np.arange(len(begins))
    span = len(tags) + 1
    order = np.argsort(level[begins] * span + begins)
    sorted_keys, sorted_frames = (level[begins] * span + begins)[order], frames[order]

    def innermost(levels: Ints, before: Ints) -> Ints:
        """The frame that was the last to begin at a level before a row; on level 0 there is none (-1)."""
        if not len(levels):
            return np.empty(0, np.int64)
        at = np.searchsorted(sorted_keys, levels * span + before) - 1
        here = (at >= 0) & (sorted_keys[at] // span == levels) if len(sorted_keys) else np.zeros(len(levels), bool)
        known = np.where(levels < len(stack), stack[np.minimum(levels, len(stack) - 1)], -1)
        return np.where(here, sorted_frames[at], known) if len(sorted_keys) else known

    parents = innermost(level[begins] - 1, begins)
    ended = innermost(level[ends] + 1, ends)
    hop_frames = innermost(level[hops], hops)
    detail_frames = innermost(level[details], details)
    _sure((ended >= 0).all() and (hop_frames >= 0).all() and (detail_frames >= 0).all())
    deepest = np.arange(1, level[-1] + 1)
    open_frames = [-1, *innermost(deepest, np.full(len(deepest), len(tags))).tolist()]

    # The tensor numbers: whatever stands behind the first three of a beginning or an end.
    extra = np.where((tags == BEGIN) | (tags == END), lengths - PLAIN, 0)
    owner = np.repeat(np.arange(len(tags)), lengths)
    behind = np.arange(len(numbers)) - first[owner] >= PLAIN
    given = numbers[behind & (extra[owner] > 0)]
    offsets = len(store.numbers) + np.cumsum(extra) - extra

    _append(store.numbers, given)
    _append(store.f_parent, parents)
    _append(store.f_thread, np.full(len(begins), rows.thread))
    _append(store.f_call, calls)
    _append(store.f_args_at, offsets[begins])
    _append(store.f_start, times[begins])
    _append(store.f_end, np.full(len(begins), OPEN))
    _append(store.f_result, np.full(len(begins), -1))
    _append(store.f_result_at, np.full(len(begins), -1))
    for column, values in ((store.f_end, times[ends]), (store.f_result, results), (store.f_result_at, offsets[ends])):
        if len(ends):
            np.frombuffer(column, np.int64)[ended] = values
    _append(store.h_frame, hop_frames)
    _append(store.h_decision, chosen)
    rows.stacks[rows.thread][:] = open_frames
    rows.settle(int(times[-1]), counted=True)
    for row, frame in zip(details.tolist(), detail_frames.tolist(), strict=True):
        at = int(first[row])
        _, value, *given_here = numbers[at : at + int(lengths[row])].tolist()
        rows.detail_of(frame, value, given_here)
