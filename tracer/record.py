"""``with tracer.record() as trace:``: record what happens in a block, in memory or to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

    from tracer.session import Session
    from traces import Frame, Hop, Node, Trace, WarningRecord
    from traces.passes import Backtrace

__all__ = ["Recording", "record"]


class Recording:
    """A trace that may still be growing: everything a ``traces.Trace`` has, as it is at that moment."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._done: Trace | None = None

    @property
    def trace(self) -> Trace:
        """The trace so far; inside the block a new one at each look."""
        if self._done is not None:
            return self._done
        trace = self._session.trace
        if self._session.finished:
            self._done = trace
        return trace

    @property
    def hops(self) -> Sequence[Hop]:
        return self.trace.hops

    @property
    def frames(self) -> Sequence[Frame]:
        return self.trace.frames

    @property
    def nodes(self) -> Sequence[Node]:
        return self.trace.nodes

    @property
    def warnings(self) -> Sequence[WarningRecord]:
        return self.trace.warnings

    def bt(self, at: Any = None, nth: int = 1) -> Backtrace:
        return self.trace.bt(at, nth)

    def path(self, op: str, nth: int = 1) -> list[str]:
        return self.trace.path(op, nth)

    def dispatch_text(self) -> str:
        return self.trace.dispatch_text()

    def call_graph(self, instances: bool = False) -> nx.MultiDiGraph:
        return self.trace.call_graph(instances)

    def autograd_graph(self) -> nx.MultiDiGraph:
        return self.trace.autograd_graph()

    def save(self, path: str | os.PathLike[str]) -> None:
        self.trace.save(path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.trace, name)

    def __repr__(self) -> str:
        return f"<Recording of {len(self.hops)} hops, {len(self.frames)} frames>"


@contextmanager
def record(
    on: str = "engine", path: str | os.PathLike[str] | None = None, only: str | None = None
) -> Iterator[Recording]:
    """Record the block. ``on`` is the target, ``path`` the file to write (memory without one), ``only`` a predicate.

    >>> with tracer.record() as trace:
    ...     torch.rand(3, 4)
    >>> print(trace.bt("aten::rand"))
    """
    from tracer.session import Session, header
    from tracer.targets import base
    from traces import predicates

    target = base.find(on)
    wanted = None if only is None else predicates.parse(only)
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    session = Session(target, header(target, script, sys.argv), None if path is None else os.fspath(path), wanted)
    recording = Recording(session)
    session.start()
    try:
        yield recording
    except BaseException as error:
        session.finish(1, (type(error).__name__, str(error)))
        raise
    session.finish()
