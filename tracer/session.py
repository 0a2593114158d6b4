"""A recording from beginning to end: a target, the sink it feeds, and the header that says what was recorded."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
from collections.abc import Sequence
from typing import Any

from tracer.selection import Selection
from tracer.targets.base import Recorder, Target
from traces import Sink, Trace, TraceBuilder, TraceError, Writer
from traces.predicates import Predicate

__all__ = ["Session", "header"]


def header(target: Target, script: str | None = None, argv: Sequence[str] = ()) -> dict[str, Any]:
    """The header of a trace made now."""
    return {
        "target": target.name,
        **target.facts(),
        "script": script,
        "argv": list(argv),
        "python": platform.python_version(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


class Session:
    """One recording: to a file when there is a path, else in memory."""

    def __init__(self, target: Target, head: dict[str, Any], path: str | None = None, only: Predicate | None = None):
        self._memory: TraceBuilder | None = None
        sink: Sink
        if path is None:
            sink = self._memory = TraceBuilder(head)
        else:
            sink = Writer(path, head)
        self._target = target
        self._sink = sink if only is None else Selection(sink, only)
        self._recorder: Recorder | None = None
        self.path = path
        self.finished = False
        self.lost = False
        """Whether recording stopped by itself before the end (the disk was full, …)."""

    def start(self) -> None:
        self._recorder = self._target.record(self._sink)

    def finish(self, status: int = 0, error: tuple[str, str] | None = None) -> None:
        """Stop watching and complete the trace; a second call does nothing."""
        if self.finished:
            return
        self.finished = True
        if self._recorder is not None and not self._recorder.stop():
            self.lost = True
        try:
            self._sink.close(status, error)
        except TraceError:
            self.lost = True

    def discard(self) -> None:
        """Stop watching and keep nothing: the program never began."""
        self.finish()
        if self.path is not None:
            with contextlib.suppress(OSError):
                os.remove(self.path)

    @property
    def hops(self) -> int:
        return self._recorder.hops if self._recorder is not None else 0

    @property
    def first_op(self) -> str | None:
        return self._recorder.first_op if self._recorder is not None else None

    @property
    def trace(self) -> Trace:
        """What has been recorded so far."""
        if self._memory is not None:
            return self._memory.trace
        from traces import load

        assert self.path is not None
        return load(self.path)
