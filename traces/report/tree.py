"""The tree of frames and hops, for people."""

from __future__ import annotations

from collections.abc import Iterator

from traces.model import Frame, Hop
from traces.passes import filter as filters
from traces.passes.backtrace import Sources
from traces.predicates import Predicate
from traces.report.styles import Lines, Part, cut, duration, plain
from traces.trace import Trace
from traces.values import text

__all__ = ["lines", "render"]

KEY_SETS = ("dispatchKeySet", "ks")
FIRST, LAST, BAR, GAP = "├─ ", "└─ ", "│  ", "   "


def _styled(trace: Trace, depth: int | None, only: Predicate | None) -> Iterator[list[Part]]:
    if only is not None:
        trace = filters.only(trace, only)
    sources = Sources(trace)
    threads = len({frame.thread for frame in trace.children(None)}) > 1
    place: tuple[object, ...] | None = None
    top = trace.children(None)
    if not top:
        yield [("no frames" + (" match" if only is not None else "") + " in this trace", "dim")]
    for position, frame in enumerate(top):
        here = (frame.thread, frame.python[:1])
        if here != place:
            place = here
            yield _python(frame, sources, threads)
        following = top[position + 1] if position + 1 < len(top) else None
        last = following is None or (following.thread, following.python[:1]) != here
        yield from _below(trace, frame, last, depth)
    yield from _ending(trace)


def _python(frame: Frame, sources: Sources, threads: bool) -> list[Part]:
    line: list[Part] = []
    if threads:
        line.append((f"thread {frame.thread}  ", "dim"))
    if not frame.python:
        return [*line, ("(no Python line)", "python")]
    inner = frame.python[0]
    line.append((f"{inner.file}:{inner.line}", "python"))
    if inner.function != "<module>":
        line.append((f" in {inner.function}", "python"))
    source = sources.line(inner.file, inner.line)
    if source is not None:
        line.append((f"  {source}", "source"))
    return line


def _below(trace: Trace, top: Frame, last: bool, depth: int | None) -> Iterator[list[Part]]:
    pending = [(top, "", last, 1)]
    while pending:
        frame, guide, last, level = pending.pop()
        yield [(guide + (LAST if last else FIRST), "guide"), *_label(trace, frame)]
        inside = trace.children(frame.id)
        if not inside:
            continue
        deeper = guide + (GAP if last else BAR)
        if depth is not None and level >= depth:
            yield [(deeper + LAST, "guide"), (f"… {len(inside)} more", "dim")]
            continue
        end = len(inside) - 1
        pending.extend((inside[i], deeper, i == end, level + 1) for i in range(end, -1, -1))


def _label(trace: Trace, frame: Frame) -> list[Part]:
    hops = trace.hops_of(frame.id)
    line: list[Part] = []
    if hops:
        for hop in hops:
            line += _hop(hop)
    else:
        line.append((frame.site.name, "name"))
        if frame.site.layer == "backend_select":
            line.append((" [BackendSelect kernel]", "dim"))
        if "case" in frame.details or "idx" in frame.details:
            line.append((f" case {frame.details.get('case', frame.details.get('idx'))}", "op"))
    args = ", ".join(f"{name}={cut(text(value), 40)}".removeprefix("=") for name, value in _short(frame))
    line.append((f" ({cut(args, 100)})", "args"))
    if frame.site.guard:
        line.append((f" guard {frame.site.guard}", "key"))
    if frame.error is not None:
        kind, message = frame.error
        line.append((f" raised {kind}: {cut(message, 60)}", "error"))
    elif frame.end_ns is None:
        line.append((" not returned", "error"))
    elif frame.result is not None:
        line.append((f" = {cut(text(frame.result), 60)}", "result"))
    if frame.duration_ns is not None:
        line.append((f"  {duration(frame.duration_ns)}", "dim"))
    return line


def _short(frame: Frame) -> list[tuple[str, object]]:
    """The arguments that say something: no None, and not the key set that a kernel is handed (the hop says its key)."""
    return [(name, value) for name, value in frame.named_args() if value is not None and name not in KEY_SETS]


def _hop(hop: Hop) -> list[Part]:
    return [(f"[{hop.kind}] ", "dim"), (hop.op, "op"), (" → ", "dim"), (hop.key, "key")]


def _ending(trace: Trace) -> Iterator[list[Part]]:
    for warning in trace.warnings:
        yield [(f"{warning.category}: {cut(warning.message, 160)}", "key")]
    if trace.truncated:
        yield [("the trace ends here: the run was killed, or is not over", "error")]
    elif trace.error is not None:
        kind, message = trace.error
        yield [(f"the run ended with {kind}: {cut(message, 160)}".rstrip(": "), "error")]
    elif trace.exit_status:
        yield [(f"the run ended with exit status {trace.exit_status}", "error")]


def lines(trace: Trace, depth: int | None = None, only: Predicate | None = None) -> Iterator[str]:
    """Plain text."""
    return map(plain, _styled(trace, depth, only))


def render(trace: Trace, depth: int | None = None, only: Predicate | None = None) -> Lines:
    """For a rich console."""
    return Lines(lambda: _styled(trace, depth, only))
