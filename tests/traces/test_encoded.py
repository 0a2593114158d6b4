"""Values that a recorder has encoded itself give the same traces as the values they stand for."""

from __future__ import annotations

import io
import random
import threading
from typing import Any

import pytest

from traces import Sink, Trace, TraceBuilder, Writer, dumps, loads
from traces.io.text import decode, dump, split
from traces.values import Encoded

VALUES: list[Any] = [
    None,
    True,
    3,
    2.5,
    "text",
    [],
    [1, [2, None]],
    {"repr": "torch.float32"},
    {"$": 3, "dtype": "float32", "shape": [3, 4], "version": 2},
    [{"$": 1, "dtype": "float32", "shape": []}, {"$": 12, "dtype": "int64", "shape": [2], "view_of": 1}],
    {"dict": [["key", {"$": 7, "dtype": "bool", "shape": [1]}]]},
]


def encoded(value: Any) -> Encoded:
    text, numbers = split(dump(value))
    return Encoded(text, [int(number) for number in numbers])


def same(value: Any) -> Any:
    return value


def play(sink: Sink, code: Any, seed: int = 0) -> None:
    """A made-up program, whose values pass through ``code``."""
    chance = random.Random(seed)
    site = sink.site("at::native::f", "native", ("a", "b"), "f.py", 3)
    clock = 0
    frames = 0
    hops = 0

    def tick() -> int:
        nonlocal clock
        clock += chance.randrange(1, 99)
        return clock

    def call(parent: int | None, depth: int) -> None:
        nonlocal frames, hops
        me, frames = frames, frames + 1
        args = [chance.choice(VALUES), chance.choice(VALUES)]
        python = (("user.py", chance.randrange(1, 3), "<module>"),) if chance.random() < 0.3 else ()
        sink.begin(me, parent, 1, site, code(args), tick(), chance.choice((None, 7)), python)
        if chance.random() < 0.3:
            sink.hop(hops, me, kind="call", op="aten::f", keyset=(1, ("CPU",)), key="CPU")
            hops += 1
        for _ in range(chance.randrange(3) if depth < 5 else 0):
            call(me, depth + 1)
        if chance.random() < 0.2:
            sink.detail(me, "note", code(chance.choice(VALUES)))
        if chance.random() < 0.2:
            sink.node(me, "Node", 1, (), {"self": code(chance.choice(VALUES))}, me)
        if chance.random() < 0.1:
            sink.fail(me, tick(), "ValueError", "no")
        else:
            sink.end(me, tick(), code(chance.choice(VALUES)))

    for _ in range(20):
        call(None, 0)
    sink.close(0)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_decode(value: Any) -> None:
    assert decode(encoded(value)) == value


def built(code: Any, seed: int) -> Trace:
    builder = TraceBuilder({})
    play(builder, code, seed)
    return builder.trace


def written(code: Any, seed: int) -> bytes:
    file = io.BytesIO()
    play(Writer(file, {}), code, seed)
    return file.getvalue()


@pytest.mark.parametrize("seed", range(20))
def test_the_traces_are_the_same(seed: int) -> None:
    plain = written(same, seed)
    assert written(encoded, seed) == plain
    assert built(encoded, seed) == built(same, seed)
    assert loads(dumps(built(encoded, seed))) == built(same, seed)


def test_threads_take_turns() -> None:
    file = io.BytesIO()
    writer = Writer(file, {})
    site = writer.site("f", "native", ("a",))
    turn = threading.Lock()
    ids = iter(range(10_000))

    def work(thread: int) -> None:
        for _ in range(200):
            with turn:
                outer = next(ids)
                writer.begin(outer, None, thread, site, Encoded('[{"$":0}]', [thread]), outer)
            with turn:
                inner = next(ids)
                writer.begin(inner, outer, thread, site, Encoded('[{"$":0}]', [thread]), inner)
            with turn:
                writer.end(inner, inner, Encoded("null", []))
            with turn:
                writer.end(outer, outer, Encoded('{"$":0}', [thread]))

    workers = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    writer.close(0)
    trace = loads(file.getvalue())
    assert len(trace.frames) == 1200
    for frame in trace.frames:
        assert frame.args == ({"$": frame.thread},)
        assert frame.parent is None or trace.frame(frame.parent).thread == frame.thread
        assert frame.result == (None if frame.parent is not None else {"$": frame.thread})
