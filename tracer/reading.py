"""Reading a trace for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracer.errors import say

if TYPE_CHECKING:
    from traces import Trace

__all__ = ["read"]


def read(path: str) -> Trace:
    """The trace at ``path``; TraceError if it is none. That it breaks off is said on stderr."""
    from traces import load

    trace = load(path)
    if trace.truncated:
        still_open = sum(frame.end_ns is None for frame in trace.frames)
        inside = f", {still_open} frames deep in a call" if still_open else ""
        say(f"tracer: {path} breaks off{inside}: the program was killed, or still runs")
    return trace
