"""What the fixture ``dispatch_trace`` gives a test: the trace, and assertions on the paths taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from tracer.errors import did_you_mean
from traces.passes import path as paths

if TYPE_CHECKING:
    from tracer.record import Recording
    from traces import Hop, Trace

__all__ = ["DispatchTrace"]

_PATH = re.compile(r"\s*(\S+?)\s*(?<!:):(?!:)\s*(.+?)\s*", re.DOTALL)


class DispatchTrace:
    """The dispatches so far. A path is written ``aten::ones: BackendSelect > CPU``."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def trace(self) -> Trace:
        return self._recording.trace

    @property
    def hops(self) -> Sequence[Hop]:
        return self._recording.hops

    @property
    def ops(self) -> list[str]:
        """The operators called, in order, each as often as it was."""
        return [hop.op for hop in self.hops if hop.kind in ("call", "callBoxed")]

    def path(self, op: str, nth: int = 1) -> list[str]:
        """The keys that the ``nth`` call of ``op`` went through."""
        __tracebackhide__ = True
        self._call(op, nth)
        return self._recording.path(op, nth)

    def bt(self, at: Any = None, nth: int = 1) -> Any:
        return self._recording.bt(at, nth)

    def assert_path(self, *expected: str, nth: int = 1) -> None:
        """The ``nth`` call of each operator went through exactly these keys."""
        __tracebackhide__ = True
        for text in expected:
            op, keys = _parse(text)
            total = self._call(op, nth)
            got = self._recording.path(op, nth)
            if got != keys:
                raise AssertionError(f"{op} took another path (call {nth} of {total})\n{side_by_side(keys, got)}")

    def assert_kernel(self, op: str, kernel: str, nth: int = 1) -> None:
        """The ``nth`` call of ``op`` ended in that kernel: the one in the table, or the native function it calls."""
        __tracebackhide__ = True
        total = self._call(op, nth)
        trace = self.trace
        first = [hop for hop in trace.hops if hop.op == op and hop.kind in ("call", "callBoxed")][nth - 1]
        last = paths.chain(trace, first)[-1]
        names = [last.kernel]
        landing = paths.landing(trace, last)
        if landing is not None and landing.site.name not in names:
            names.append(landing.site.name)
        if kernel not in names and kernel not in [name.rpartition("::")[2] for name in names]:
            raise AssertionError(
                f"{op} ended in another kernel (call {nth} of {total})\n{side_by_side([kernel], [' → '.join(names)])}"
            )

    def assert_dispatched(self, op: str) -> None:
        """``op`` (a name, or a pattern with ``*``) was called."""
        __tracebackhide__ = True
        if not any(fnmatchcase(one, op) for one in self.ops):
            self._not_called(op)

    def assert_not_dispatched(self, op: str) -> None:
        """``op`` (a name, or a pattern with ``*``) was not called."""
        __tracebackhide__ = True
        for hop in self.hops:
            if fnmatchcase(hop.op, op):
                calls = sum(fnmatchcase(one, op) for one in self.ops)
                raise AssertionError(f"{hop.op} was dispatched ({calls} times); the first time:\n{self.bt(hop.op)}")

    def _call(self, op: str, nth: int) -> int:
        """How often ``op`` was called; raises when that is less than ``nth``."""
        __tracebackhide__ = True
        total = sum(one == op for one in self.ops)
        if total == 0:
            self._not_called(op)
        if not 1 <= nth <= total:
            raise AssertionError(f"{op} was dispatched {total} times; there is no call {nth}")
        return total

    def _not_called(self, op: str) -> None:
        __tracebackhide__ = True
        called = list(dict.fromkeys(self.ops))
        listed = ", ".join(called[:20]) + (", …" if len(called) > 20 else "") if called else "nothing"
        raise AssertionError(f"{op} was not dispatched{did_you_mean(op, called)}; dispatched: {listed}")


def _parse(text: str) -> tuple[str, list[str]]:
    __tracebackhide__ = True
    found = _PATH.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a path; write 'aten::ones: BackendSelect > CPU'")
    return found[1], [key.strip() for key in found[2].split(">")]


def side_by_side(expected: Sequence[str], got: Sequence[str]) -> str:
    """Two columns, with a mark at the lines that differ."""
    width = max(len("expected"), *(len(line) for line in expected)) + 3
    lines = [f"    {'expected':<{width}}got"]
    for left, right in zip_longest(expected, got):
        mark = "  " if left == right else "≠ "
        lines.append(f"  {mark}{left or '–':<{width}}{right or '–'}".rstrip())
    return "\n".join(lines)
