"""Which operators generated autograd programs call, nested ones and those of backward too: the engine against PyTorch.

PyTorch's profiler is told of every dispatcher call; so is the engine's listener.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import engine.torch as ours
from engine import doors
from tests.conformance.autograd_programs import run

theirs = pytest.importorskip("torch")


class Calls(doors.Listener):
    def __init__(self) -> None:
        self.names: list[str] = []

    def hop(self, decision: Any) -> None:
        if decision.kind in ("call", "callBoxed"):
            self.names.append(decision.op.partition(".")[0])


def their_calls(program: Callable[[], Any]) -> list[str]:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        program()
    events = [e for e in prof.profiler.kineto_results.events() if e.name().startswith("aten::")]
    events.sort(key=lambda e: (e.start_ns(), -e.duration_ns()))
    return [e.name() for e in events]


def our_calls(program: Callable[[], Any]) -> list[str]:
    calls = Calls()
    undo = doors.attach(calls)
    try:
        program()
    finally:
        undo()
    return calls.names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(120))
def test_calls(seed: int) -> None:
    assert our_calls(lambda: run(ours, seed)) == their_calls(lambda: run(theirs, seed))
