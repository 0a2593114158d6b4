"""Which operators have an autograd kernel, of which kind, and which node they make: the table against PyTorch."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.aten.core.dispatcher import singleton
from engine.c10.dispatch_key import DispatchKey
from engine.torch.csrc.autograd.not_implemented_kernel import autogradNotImplementedFallbackImpl
from engine.torchgen.gen_variable_type import functional_row
from engine.torchgen.load_derivatives import op_name
from engine.torchgen.register import register_all, registered_rows

torch = pytest.importorskip("torch")

register_all()
ROWS = [
    pytest.param(row, id=struct)
    for struct, row in registered_rows.items()
    if not row.article and str(row.schema.name) in torch._C._dispatch_get_all_op_names()
]


def kind(name: str, key: str) -> str:
    """none, boxed (no derivative), or kernel, as PyTorch registered it.

    A composition of which nested tensors have a kernel of their own has an Autograd kernel too, which only they reach.
    """
    text = torch._C._dispatch_dump(name)
    if key == "Autograd" and "CompositeImplicitAutograd[alias]" in text and "NestedTensor" in text:
        return "none"
    for line in text.splitlines():
        if line.startswith((f"{key}[alias]:", f"{key}:")):
            if "fallthrough" in line:
                return "fallthrough"
            return "boxed" if "(none) [ boxed ]" in line else "kernel"
    return "none"


def ours(name: str, key: DispatchKey) -> str:
    registered = singleton.entry(name).registered(key)
    if registered is None:
        return "none"
    if registered.kernel.is_fallthrough:
        return "fallthrough"
    return "boxed" if registered.kernel.fn is autogradNotImplementedFallbackImpl else "kernel"


@pytest.mark.parametrize("row", ROWS)
def test_autograd_kernel(row: Any) -> None:
    name = str(row.schema.name)
    assert ours(name, DispatchKey.Autograd) == kind(name, "Autograd")


@pytest.mark.parametrize("row", ROWS)
def test_adinplaceorview_kernel(row: Any) -> None:
    name = str(row.schema.name)
    assert ours(name, DispatchKey.ADInplaceOrView) == kind(name, "ADInplaceOrView")


def nodes() -> dict[str, str]:
    """PyTorch's node of each operator with derivatives, by its name without the namespace."""
    load = pytest.importorskip("torchgen.packaged.autograd.load_derivatives")
    import os

    import torchgen.packaged

    root = os.path.dirname(torchgen.packaged.__file__ or next(iter(torchgen.packaged.__path__)) + "/x")
    infos, _ = load.load_derivatives(
        f"{root}/autograd/derivatives.yaml",
        f"{root}/ATen/native/native_functions.yaml",
        f"{root}/ATen/native/tags.yaml",
    )
    found = {}
    for by_key in infos.values():
        info = by_key.get("Default")
        if info is not None and info.op:
            found[str(info.func.func.name)] = info.op
    return found


@pytest.fixture(scope="module")
def theirs() -> dict[str, str]:
    return nodes()


@pytest.mark.parametrize("row", ROWS)
def test_node_name(row: Any, theirs: dict[str, str]) -> None:
    source = functional_row(row)
    if source is None or not source.derivatives:
        return
    name = re.sub("^aten::", "", str(source.schema.name))
    assert op_name(source) == theirs.get(name), f"{name}: backward_name of the row"
