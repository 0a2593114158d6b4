"""Schemas and computed dispatch tables of every operator in THE TABLE, against the installed PyTorch."""

from __future__ import annotations

import re

import pytest

from engine.aten.core.dispatcher import OperatorHandle, singleton
from engine.torchgen.register import register_all

torch = pytest.importorskip("torch", reason="conformance needs the installed PyTorch")

register_all()
OPERATORS = sorted((op for op in singleton.operators() if op.name.startswith("aten::")), key=lambda op: op.name)
KEYS = ("Undefined", "CPU", "Meta", "BackendSelect", "ADInplaceOrView", "AutogradOther", "AutogradCPU", "AutogradMeta")
LINE = re.compile(r"^(\w+): (fallthrough )?.*\[([a-z ]+)\]$", re.MULTILINE)

known = pytest.mark.parametrize("op", OPERATORS, ids=[op.name for op in OPERATORS])


def in_torch(op: OperatorHandle) -> bool:
    return bool(torch._C._dispatch_has_kernel(op.name)) and not op.name.endswith(("names", "names_out"))


def cells(dump: str) -> dict[str, tuple[bool, str]]:
    return {m[1]: (m[2] is not None, m[3]) for m in LINE.finditer(dump) if m[1] in KEYS}


@known
def test_schema(op: OperatorHandle) -> None:
    if not in_torch(op):
        pytest.skip("not in the installed PyTorch (named tensors)")
    name, _, overload = op.name.partition(".")
    theirs = torch._C._get_schema(name, overload)
    assert str(op.schema) == str(theirs)


@known
def test_table(op: OperatorHandle) -> None:
    if not in_torch(op):
        pytest.skip("not in the installed PyTorch (named tensors)")
    assert cells(op.entry.dump_computed_table()) == cells(torch._C._dispatch_dump_table(op.name))


def test_there_are_operators() -> None:
    assert len(OPERATORS) > 80
