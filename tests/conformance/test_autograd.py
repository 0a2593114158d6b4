"""Autograd against the installed PyTorch: hundreds of generated programs must leave the same traces in both."""

from __future__ import annotations

import math
from typing import Any

import pytest

import engine.torch as ours
from tests.conformance.autograd_programs import run

theirs = pytest.importorskip("torch")


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


@pytest.mark.parametrize("seed", range(300))
def test_program(seed: int) -> None:
    expected, found = run(theirs, seed), run(ours, seed)
    for i, (a, b) in enumerate(zip(expected, found, strict=False)):
        assert same(a, b), f"entry {i} of seed {seed}:\n  PyTorch {a}\n  engine  {b}"
    assert len(expected) == len(found)
