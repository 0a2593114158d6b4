"""Short programs at the edges of what PyTorch allows, in the engine and in the installed PyTorch: both end alike.

A program ends in an expression; programs of several lines are separated by ``---``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import torch as ours

torch = pytest.importorskip("torch")

DEVICES = """
c + m
m + c
c * m
c - m
c / m
c + m0
m0 + c
m + c0
c0 + m
c0 + m0
m0 + c0
torch.cat([c, m])
torch.cat([m, c])
torch.stack([c, m])
torch.stack([m, c])
torch.cat([c, c], out=m)
torch.add(c, c, out=m)
torch.add(m, m, out=c)
torch.add(c, m, out=c)
torch.sub(c, c, out=m)
torch.mul(c, c, out=m)
torch.div(c, c, out=m)
torch.neg(c, out=m)
torch.reciprocal(m, out=c)
torch.sum(c, 0, out=m0)
torch.mean(c, 0, out=m0)
torch.sum(torch.ones(3, 3), 0, out=m)
torch.mean(torch.ones(3, 3), 0, out=m)
torch.sum(m, 0, out=c0)
torch.add(c0, c0, out=m0)
torch.add(m, c0, alpha=2)
torch.sub(m, c0, alpha=2)
c.add_(m)
m.add_(c)
c.copy_(m)
m.copy_(c)
m.copy_(torch.ones(2))
c.requires_grad_() * m
c.requires_grad_().sum().backward(m0)
c.index_add_(0, torch.zeros(3, dtype=torch.long), m)
c.scatter_add_(0, torch.zeros(2, dtype=torch.long, device='meta'), c)
c.gather(0, torch.zeros(2, dtype=torch.long, device='meta')).shape
c.index_select(0, torch.zeros(2, dtype=torch.long, device='meta')).shape
"""


def programs(text: str) -> list[str]:
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


@pytest.mark.parametrize("source", programs(DEVICES))
def test_devices(source: str) -> None:
    assert outcome(source, ours) == outcome(source, torch)
