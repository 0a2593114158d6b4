"""Short programs at the edges of what PyTorch allows, in the engine and in the installed PyTorch: both end alike.

They lie in ``edges/``, a file per subject. A program ends in an expression; programs of several lines are separated by
``---``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import torch as ours

torch = pytest.importorskip("torch")

EDGES = Path(__file__).parent / "edges"


def programs(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    parts = text.split("\n---\n") if "\n---\n" in text else text.splitlines()
    return [part.strip() for part in parts if part.strip()]


def shown(value: Any, module: Any) -> str:
    if isinstance(value, module.Tensor):
        plain = value.detach()
        data = "no data" if plain.device.type == "meta" else repr(plain.tolist())
        return f"Tensor {data} {value.dtype} {value.device} {tuple(value.shape)} {value.stride()} {value.requires_grad}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(shown(item, module) for item in value)})"
    return repr(value)


def outcome(source: str, module: Any) -> str:
    names = {
        "torch": module,
        "np": np,
        "c": module.ones(3),
        "m": module.ones(3, device="meta"),
        "c0": module.tensor(2.0),
        "m0": module.tensor(2.0, device="meta"),
    }
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "program", "exec"), names)
            return shown(eval(compile(ast.Expression(last.value), "program", "eval"), names), module)
        except Exception as error:
            # PyTorch appends where in its C++ the error was raised
            text = str(error).partition("\nException raised from ")[0]
            return f"{type(error).__name__}: {text}"


@pytest.fixture(autouse=True)
def reference() -> Iterator[None]:
    before = engine.reference()
    engine.reference("2.13")
    yield
    engine.reference(before)


CASES = [(path.stem, source) for path in sorted(EDGES.glob("*.txt")) for source in programs(path)]


@pytest.mark.parametrize(("subject", "source"), CASES)
def test_both_end_alike(subject: str, source: str) -> None:
    assert outcome(source, ours) == outcome(source, torch)
