"""``import torch`` while the engine stands in for it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine.torch
from engine.importer import install_torch

ROOT = str(Path(__file__).parents[2])
ENVIRONMENT = {**os.environ, "PYTHONPATH": ROOT}


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


def test_processes_started_afresh_import_the_engine(tmp_path: Path) -> None:
    script = tmp_path / "spawned.py"
    script.write_text(
        "from engine.importer import install_torch\n"
        "import multiprocessing, sys\n"
        "def work(i):\n"
        "    import torch\n"
        "    return torch.ones(2).sum().item() + i, torch.__name__\n"
        "if __name__ == '__main__':\n"
        "    undo = install_torch()\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [1]))\n"
        "    before = len(sys.path)\n"
        "    undo()\n"
        "    print(before - len(sys.path))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False
    )
    assert done.stdout == "[(3.0, 'engine.torch')]\n1\n", done.stderr


def test_star_import() -> None:
    code = "from engine.torch import *; print(ones(1), float32, 'autograd' in dir())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=True
    )
    assert done.stdout == "tensor([1.]) torch.float32 False\n"
