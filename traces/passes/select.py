"""The point of a trace that ``--at PRED`` and ``--nth N`` name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from traces.errors import TraceError
from traces.model import Frame, Hop
from traces.near import closest
from traces.passes.path import CALLS, near
from traces.predicates import Predicate, fields, parse, select, terms
from traces.trace import Trace

__all__ = ["last_point", "nothing", "point"]


def point(trace: Trace, at: str | Predicate | None = None, nth: int = 1) -> Hop | Frame:
    """The ``nth`` hop (or frame) that ``at`` selects. Unless ``at`` asks for a kind, key or number of hop, a call and
    the redispatches it leads to count as one.

    Without ``at``: the last point reached if the run died (was killed, or ended with an exception), else the hops.
    """
    if nth < 1:
        raise TraceError(f"the first match is number 1, there is no match {nth}")
    if at is None:
        last = last_point(trace)
        if nth == 1 and last is not None:
            return last
        if not trace.hops:
            if nth == 1 and trace.frames:
                return trace.frames[0]
            raise TraceError("the trace has no hops: nothing went through the dispatcher")
        if nth > len(trace.hops):
            raise TraceError(f"the trace has {len(trace.hops)} hops, there is no hop number {nth}")
        return trace.hops[nth - 1]
    predicate = parse(at) if isinstance(at, str) else at
    found = list(islice(_points(trace, predicate), nth))
    if not found:
        raise TraceError(nothing(trace, predicate))
    if len(found) < nth:
        times = "once" if len(found) == 1 else f"{len(found)} times"
        raise TraceError(f"{str(predicate)!r} matches {times} in the trace, there is no match {nth}")
    return found[-1]


def nothing(trace: Trace, predicate: Predicate) -> str:
    """That a predicate matches nothing, and what may have been meant."""
    return f"nothing in the trace matches {str(predicate)!r}{_hint(trace, predicate)}"


def _hint(trace: Trace, predicate: Predicate) -> str:
    for term in terms(predicate):
        if next(select(trace, term), None) is not None:
            continue
        if term.field in (None, "op"):
            return near(trace, term.value)
        known: list[str] = []
        if term.field == "key":
            known = list(dict.fromkeys(hop.key for hop in trace.hops))
        elif term.field == "layer":
            known = list(dict.fromkeys(frame.layer for frame in trace.frames))
        elif term.field == "name":
            known = list(dict.fromkeys(frame.name for frame in trace.frames))
        close = closest(term.value, known)
        if close is not None:
            return f"; did you mean {term.field}={close}?"
        if known and term.field != "name":
            return f"; it has {', '.join(known[:8])}{', …' if len(known) > 8 else ''}"
    return ""


def _points(trace: Trace, predicate: Predicate) -> Iterator[Hop | Frame]:
    found = select(trace, predicate)
    if not fields(predicate).isdisjoint(("key", "kind", "hop")):
        return found
    hops = list(found)
    return iter([one for one in hops if isinstance(one, Frame) or one.kind in CALLS] or hops)


def last_point(trace: Trace) -> Hop | Frame | None:
    """Where a run that died stood: its innermost open frame, or the innermost that raised; None if it did not die."""
    if trace.truncated:
        for frame in reversed(trace.frames):
            if frame.end_ns is None:
                return frame
        return trace.hops[-1] if trace.hops else None
    if trace.error is None:
        return None
    failed = [frame for frame in trace.children(None) if frame.error is not None]
    # the binding turns c10::Error into Python's exception: the text stays
    if not failed or failed[-1].error is None or failed[-1].error[1] != trace.error[1]:
        return trace.hops[-1] if trace.hops else None
    at = failed[-1]
    while True:
        inside = [frame for frame in trace.children(at.id) if frame.error is not None]
        if not inside:
            return at
        at = inside[-1]
