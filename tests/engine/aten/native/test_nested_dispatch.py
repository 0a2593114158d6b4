"""Kernels call the dispatcher as PyTorch's do: in the same order, under the same conditions, nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.aten.native import parallel
from tests.conformance.kernel_cases import CASES
from tests.conformance.kernel_runs import nested_calls

GOLDEN = Path(__file__).with_name("nested_dispatch.txt")


def golden() -> Iterator[tuple[str, list[str]]]:
    name, calls = "", []
    for line in GOLDEN.read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("    "):
            calls.append(line[4:])
            continue
        if name:
            yield name, calls
        name, calls = line, []
    yield name, calls


BY_TEXT = {str(case): case for family in CASES.values() for case in family}
OPS = sorted({name.partition("(")[0] for name, _ in golden()})


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_num_threads", 2)


@pytest.mark.parametrize("op", OPS)
def test_nested_calls(op: str) -> None:
    for name, calls in golden():
        if name.partition("(")[0] == op:
            assert nested_calls(BY_TEXT[name]) == calls, name
