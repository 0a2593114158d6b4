"""Recording with ``only`` keeps what the filter keeps of a whole recording."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tracer.selection import Selection
from traces import Trace, TraceBuilder
from traces.passes import filter as filters
from traces.predicates import parse

NAMES = ("at::_ops::a::call", "at::_ops::b::call", "at::native::a", "at::native::b", "torch::a")
OPS = ("aten::a", "aten::b")


def play(sink: Any, seed: int) -> None:
    """A made-up program: the same for every sink of the same seed."""
    chance = random.Random(seed)
    sites = [sink.site(name, "ops" if "_ops" in name else "native", (), "f.cpp", i) for i, name in enumerate(NAMES)]
    count = {"frame": 0, "hop": 0, "node": 0, "time": 0}

    def tick(what: str) -> int:
        count[what] += 1
        return count[what] - 1

    def frame(parent: int | None, depth: int) -> None:
        me = tick("frame")
        which = chance.randrange(len(NAMES))
        python = [("user.py", chance.randrange(1, 4), "<module>")] if parent is None or chance.random() < 0.1 else []
        sink.begin(me, parent, 1, sites[which], [me], tick("time"), None, python)
        if which < 2:
            op, key = OPS[which], chance.choice(("CPU", "AutogradCPU"))
            sink.hop(tick("hop"), me, kind=chance.choice(("call", "redispatch")), op=op, keyset=(1, (key,)), key=key)
        for _ in range(chance.randrange(0, 4 if depth < 5 else 1)):
            frame(me, depth + 1)
            if chance.random() < 0.2:
                sink.detail(me, "note", chance.randrange(9))
        if chance.random() < 0.2:
            sink.node(tick("node"), "Node", 1, (), {}, me)
        if chance.random() < 0.1:
            sink.fail(me, tick("time"), "ValueError", "no")
        else:
            sink.end(me, tick("time"), me)

    for _ in range(12):
        frame(None, 0)
    sink.close(0, None)


def essence(trace: Trace) -> Any:
    """What a reader sees of it (absolute times are another matter: the first kept event begins at 0)."""
    return (
        [(f.id, f.parent, f.site, f.args, f.result, f.error, f.python, dict(f.details)) for f in trace.frames],
        list(trace.hops),
        sorted((n.id, n.created_by) for n in trace.nodes),
    )


@pytest.mark.parametrize(
    "text",
    [
        "op=aten::a",
        "key=CPU",
        "op=aten::b and key=CPU",
        "kind=redispatch",
        "name=at::native::a",
        "layer=native and not op=aten::a",
        "not op=aten::a",
        "line=user.py:2",
        "op=aten::nothing",
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_only_while_recording_is_only_afterwards(text: str, seed: int) -> None:
    whole, part = TraceBuilder({}), TraceBuilder({})
    wanted = parse(text)
    play(whole, seed)
    play(Selection(part, wanted), seed)
    assert essence(part.trace) == essence(filters.only(whole.trace, wanted))
