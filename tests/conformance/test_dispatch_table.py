"""Computed tables of operators with random registrations: the engine's cells against the installed PyTorch's."""

from __future__ import annotations

import random
import re

import pytest

from engine.aten.core.dispatcher import singleton
from engine.library import Library, fallthrough_kernel

torch = pytest.importorskip("torch", reason="conformance needs the installed PyTorch")
torch_library = pytest.importorskip("torch.library")

KEYS = [
    "CPU", "CUDA", "Meta", "XLA", "SparseCPU", "SparseCsrCPU", "FPGA", "MkldnnCPU", "QuantizedCPU",
    "BackendSelect", "ADInplaceOrView", "AutogradCPU", "AutogradMeta", "AutogradOther", "Autograd",
    "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional",
    "Tracer", "AutocastCPU", "Conjugate", "Negative", "Functionalize", "Batched",
]  # fmt: skip
LINE = re.compile(r"^(\w+): (fallthrough )?.*\[([a-z ]+)\]$|^(\w+): (ambiguous)")


def cells(dump: str) -> dict[str, tuple[bool, str]]:
    found = {}
    for line in dump.splitlines():
        if match := LINE.match(line):
            found[match[1]] = (match[2] is not None, match[3])
    return found


def kernel(*args: object) -> object:
    return args[0]


@pytest.mark.parametrize("seed", range(150))
def test_random_registrations(seed: int) -> None:
    rng = random.Random(seed)
    name = f"f{seed}"
    chosen = rng.sample(KEYS, rng.randint(0, 7))
    theirs = torch_library.Library("conf_table", "FRAGMENT")
    ours = Library("conf_table", "FRAGMENT")
    try:
        schema = f"{name}(Tensor a, Tensor[] b, int c=3) -> Tensor"
        theirs.define(schema)
        ours.define(schema)
        for key in chosen:
            skip = rng.random() < 0.25
            said = []
            for library, fallthrough in ((theirs, torch_library.fallthrough_kernel), (ours, fallthrough_kernel)):
                try:
                    library.impl(name, fallthrough if skip else kernel, key)
                except RuntimeError as error:
                    said.append(str(error))
            assert len(said) in (0, 2)
            assert len(set(said)) <= 1
        expected = cells(torch._C._dispatch_dump_table(f"conf_table::{name}"))
        actual = cells(singleton.entry(f"conf_table::{name}").dump_computed_table())
        assert actual == expected, (chosen, set(expected.items()) ^ set(actual.items()))
    finally:
        theirs._destroy()
        ours._destroy()
