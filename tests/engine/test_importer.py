"""``import torch`` while the engine stands in for it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pytest

import engine.torch
from engine.importer import install_torch


@pytest.fixture
def installed() -> Iterator[None]:
    undo = install_torch()
    yield
    undo()


@pytest.mark.usefixtures("installed")
def test_torch_is_the_engine() -> None:
    torch = importlib.import_module("torch")
    assert torch is engine.torch
    assert importlib.import_module("torch.autograd") is torch.autograd
    assert importlib.import_module("torch.library").__name__ == "engine.library"
    assert torch.__spec__.name == "engine.torch"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["torch.nn", "torch.nn.functional", "torch.csrc", "torch.autograd.zzz"])
def test_what_is_not_modelled_is_named(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'torch\..*--on torch") as caught:
        importlib.import_module(name)
    assert name.startswith(caught.value.name)


@pytest.mark.usefixtures("installed")
def test_from_torch_import_says_why_not() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nn' from 'torch': the engine does not model it"):
        exec("from torch import nn")
    exec("from torch import ones, autograd, Tensor")


def test_undo_puts_back_what_was_there() -> None:
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    undo = install_torch()
    importlib.import_module("torch.autograd")
    undo()
    undo()
    assert {name: m for name, m in sys.modules.items() if name.partition(".")[0] == "torch"} == before
