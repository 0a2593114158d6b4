"""The way of one dispatch: from its call through its redispatches to the kernel."""

from __future__ import annotations

from traces.errors import TraceError
from traces.model import Frame, Hop
from traces.near import closest_op
from traces.predicates import Facts, Term
from traces.trace import Trace

__all__ = ["calls", "chain", "landing", "path"]

CALLS = ("call", "callBoxed")
WRAPPERS = ("wrapper", "kernel")
NATIVE = "native"


def calls(trace: Trace, op: str) -> list[Hop]:
    """The calls of an operator; a name without an overload means that operator, or when it has none, any overload."""
    made = [hop for hop in trace.hops if hop.kind in CALLS]
    found = [hop for hop in made if hop.op == op]
    if not found:
        term = Term(op, "op")
        known = {name for name in {hop.op for hop in made} if term.matches(_facts(name))}
        found = [hop for hop in made if hop.op in known]
    return found


def _facts(op: str) -> Facts:
    return Facts(op=op)


def path(trace: Trace, op: str, nth: int = 1) -> list[str]:
    """The keys that the ``nth`` call of an operator goes through, first to last."""
    found = calls(trace, op)
    if not found:
        raise TraceError(f"{op} was not called in this trace{near(trace, op)}")
    if not 1 <= nth <= len(found):
        times = "once" if len(found) == 1 else f"{len(found)} times"
        raise TraceError(f"{op} was called {times} in this trace, there is no call {nth}")
    return [hop.key for hop in chain(trace, found[nth - 1])]


def near(trace: Trace, op: str) -> str:
    """``; did you mean aten::rand?``, or the operators there are."""
    known = list(dict.fromkeys(hop.op for hop in trace.hops))
    close = closest_op(op, known)
    if close is not None:
        return f"; did you mean {close!r}?"
    if not known:
        return "; it has no hops"
    return f"; it has {', '.join(known[:8])}{', …' if len(known) > 8 else ''}"


def chain(trace: Trace, hop: Hop) -> list[Hop]:
    """A hop and the redispatches of the same operator that follow from it, down to the kernel."""
    found = [hop]
    while True:
        following = _next(trace, found[-1])
        if following is None:
            return found
        found.append(following)


def _next(trace: Trace, hop: Hop) -> Hop | None:
    """The redispatch made by the kernel that a hop chose, if it makes one."""
    inside = trace.hops_of(hop.frame)
    for other in inside:  # a kernel without a frame of its own
        if other.id > hop.id and other.op == hop.op and other.kind not in CALLS:
            return other
    if inside[-1].id != hop.id:
        return None
    pending = list(reversed(trace.children(hop.frame)))
    while pending:
        frame = pending.pop()
        hops = trace.hops_of(frame.id)
        if not hops:
            pending.extend(reversed(trace.children(frame.id)))
        elif hops[0].op == hop.op and hops[0].kind not in CALLS:
            return hops[0]
    return None


def landing(trace: Trace, hop: Hop) -> Frame:
    """The frame of the kernel in which a hop lands: the native function, or what stands for it."""
    at = trace.frame(chain(trace, hop)[-1].frame)
    inside = [frame for frame in trace.children(at.id) if trace.hop_of(frame.id) is None]
    while inside:
        natives = [frame for frame in inside if frame.layer == NATIVE]
        at = natives[-1] if natives else inside[0]
        if natives or at.layer not in WRAPPERS:
            break
        inside = [
            frame
            for frame in trace.children(at.id)
            if frame.layer in (*WRAPPERS, NATIVE) and trace.hop_of(frame.id) is None
        ]
    return at
