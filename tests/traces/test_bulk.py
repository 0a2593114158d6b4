"""Many lines at once: the same traces and the same errors as line by line."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.traces.samples import CPU_SET, Driver, built, tensor
from traces import Trace, TraceError, dumps, loads
from traces.io import bulk
from traces.io.rows import Rows


def busy(seed: int, size: int = 400, thread: int = 1) -> Any:
    """A driver of random nested frames with hops, details, tensors, nodes and warnings."""

    def drive(sink: Any) -> None:
        d = Driver(sink)
        dice = random.Random(seed)
        for number in range(size):
            what = dice.randrange(10)
            if what < 5 or not d.open:
                d.begin(
                    f"f{dice.randrange(5)}", "native", ("x", "y"),
                    [tensor(number, [3, 4], version=number), dice.randrange(3)],
                    ("file.py", 3), dice.randrange(4), (("s.py", dice.randrange(9), "f"),) if not d.open else (),
                    thread=thread,
                )  # fmt: skip
            elif what < 8:
                d.end([tensor(number, [2]), tensor(0, [1])] if what == 5 else None)
            elif what == 8:
                d.hop("call", f"aten::f{dice.randrange(4)}", "CPU", CPU_SET)
            elif dice.random() < 0.5:
                sink.detail(d.open[-1], "note", {"$": number, "dtype": "int64", "shape": []})
            elif dice.random() < 0.5:
                sink.node(number, "AddBackward0", number, ((None, 0),), {"self": tensor(1, [1])}, d.open[-1])
                sink.node_ran(number, d.open[0])
            else:
                sink.warning("UserWarning", "careful", d.open[-1])
        if seed % 2:
            while d.open:
                d.end(1)

    return drive


@pytest.fixture(params=[1 << 18, 2000, 300])
def always(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Every file is read in bulk; the list tells of each chunk whether it was."""
    taken: list[bool] = []

    def take(rows: Rows, text: bytes) -> bool:
        taken.append(original(rows, text))
        return taken[-1]

    original = bulk.take
    monkeypatch.setattr("traces.io.reader.BIG", 0)
    monkeypatch.setattr("traces.io.reader.CHUNK", request.param)
    monkeypatch.setattr(bulk, "take", take)
    return taken


def line_by_line(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Trace:
    with monkeypatch.context() as patch:
        patch.setattr("traces.io.reader.BIG", 1 << 60)
        return loads(data, "f")


@pytest.mark.parametrize("seed", range(12))
def test_the_same_trace(seed: int, always: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    trace = built(busy(seed))
    data = dumps(trace)
    assert loads(data) == line_by_line(data, monkeypatch) == trace
    if seed % 2 and len(always) > 1:
        assert any(always)


def test_threads_are_left_to_the_other_reader(always: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    trace = built(busy(3, thread=2))
    data = dumps(trace)
    assert loads(data) == line_by_line(data, monkeypatch) == trace
    if len(always) > 2:
        assert True in always[1:]
        assert {frame.thread for frame in trace.frames} == {2}


@pytest.mark.usefixtures("always")
def test_the_same_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(dumps(built(busy(1, 60))))
    dice = random.Random(5)
    refused = 0
    for _ in range(400):
        position = dice.randrange(len(data))
        old = data[position]
        data[position] = dice.choice(b'0123,[]-"\n x.')
        found: list[Any] = []
        for read in (loads, lambda raw, name: line_by_line(raw, monkeypatch)):
            try:
                found.append(read(bytes(data), "f"))
            except TraceError as error:
                found.append(str(error))
        if isinstance(found[1], str):
            refused += 1
        assert found[0] == found[1]
        data[position] = old
    assert refused > 100
