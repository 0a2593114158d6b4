"""A trace in a few lines: what ran, how it ended, which operators went where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from traces.report.styles import Lines, Part, duration, plain
from traces.trace import Trace

__all__ = ["lines", "render"]

MOST = 20


def _styled(trace: Trace, most: int) -> Iterator[list[Part]]:
    store = trace._store
    header = trace.header
    target = " ".join(str(header[key]) for key in ("target", "reference") if header.get(key) is not None)
    yield [(str(header.get("script") or "(no script)"), "python"), (f"  on {target}" if target else "", "dim")]
    threads = len(set(store.f_thread))
    spent = max(store.f_end, default=0) if store.f_end else 0
    yield [
        (f"{len(store.h_frame):,} hops", "op"),
        (f", {len(store.f_call):,} frames, {len(store.node_order):,} autograd nodes, ", ""),
        (f"{len(store.warnings):,} warnings, {threads} thread{'' if threads == 1 else 's'}", ""),
        (f", {duration(max(spent, 0))}", "dim"),
    ]
    yield [_ending(trace)]
    counts: Counter[tuple[str, str]] = Counter()
    for number, count in Counter(store.h_decision).items():
        fields = store.decisions[number]
        counts[fields[1], fields[7]] += count
    if counts:
        yield []
    width = len(f"{max(counts.values(), default=0):,}")
    for (op, key), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]:
        yield [(f"  {count:>{width},}  ", ""), (op, "op"), (" → ", "dim"), (key, "key")]
    if len(counts) > most:
        yield [(f"  {'…':>{width}}  {len(counts) - most} more pairs of operator and key", "dim")]


def _ending(trace: Trace) -> Part:
    if trace.truncated:
        return "truncated: the run was killed, or is not over", "error"
    if trace.error is not None:
        return f"ended with {trace.error[0]}", "error"
    return f"ended with exit status {trace.exit_status}", "error" if trace.exit_status else ""


def lines(trace: Trace, most: int = MOST) -> Iterator[str]:
    """Plain text."""
    return map(plain, _styled(trace, most))


def render(trace: Trace, most: int = MOST) -> Lines:
    """For a rich console."""
    return Lines(lambda: _styled(trace, most))
