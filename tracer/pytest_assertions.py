"""What the fixture ``dispatch_trace`` gives a test: the trace, and assertions on the paths taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracer.errors import did_you_mean
from traces.passes import path as paths

if TYPE_CHECKING:
    from tracer.record import Recording
    from traces import Hop, Trace

__all__ = ["DispatchTrace"]

CONTEXT = 5
_PATH = re.compile(r"\s*(\S+?)\s*(?<!:):(?!:)\s*(.+?)\s*", re.DOTALL)


class DispatchTrace:
    """The dispatches so far. A path is written ``aten::ones: BackendSelect > CPU``."""

    def __init__(self, recording: Recording, snapshot: Path | None = None, accept: bool = False) -> None:
        self._recording = recording
        self._snapshot = snapshot
        self._accept = accept

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

    def assert_snapshot(self, name: str | None = None) -> None:
        """The dispatches are those of the snapshot, ``snapshots/MODULE/TEST.dispatch`` beside the test.

        ``name`` tells several snapshots of a test apart. ``pytest --accept-dispatch`` writes snapshots anew.
        """
        __tracebackhide__ = True
        assert self._snapshot is not None, "only the fixture dispatch_trace knows where its snapshots are"
        path = self._snapshot if name is None else self._snapshot.with_suffix(f".{name}.dispatch")
        got = self._recording.dispatch_text().splitlines()
        if self._accept:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in got), encoding="utf-8")
            return
        if not path.exists():
            raise AssertionError(f"there is no snapshot {path}; pytest --accept-dispatch writes it")
        expected = path.read_text(encoding="utf-8").splitlines()
        if got != expected:
            raise AssertionError(
                f"the dispatches are not those of {path} (pytest --accept-dispatch accepts them)\n"
                f"{side_by_side(expected, got)}"
            )

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
    """Two columns, with a mark at the lines that differ; long stretches of equal lines are left out."""
    width = max(map(len, ["expected", *expected])) + 3
    lines = [f"    {'expected':<{width}}got"]
    for tag, left_from, left_to, right_from, right_to in SequenceMatcher(None, expected, got, False).get_opcodes():
        pairs = list(zip_longest(expected[left_from:left_to], got[right_from:right_to], fillvalue="–"))
        if tag == "equal" and len(pairs) > 2 * CONTEXT:
            lines += [_row("  ", pair, width) for pair in pairs[:CONTEXT]]
            lines.append(f"      … {len(pairs) - 2 * CONTEXT} equal lines")
            pairs = pairs[-CONTEXT:]
        lines += [_row("  " if tag == "equal" else "≠ ", pair, width) for pair in pairs]
    return "\n".join(lines)


def _row(mark: str, pair: tuple[str, str], width: int) -> str:
    return f"  {mark}{pair[0]:<{width}}{pair[1]}".rstrip()
