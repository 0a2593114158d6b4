"""Reference functions of the Meta device where a CPU tensor is among the operands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine import torch


@pytest.mark.parametrize(
    "run",
    [
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a - b,
        lambda a, b: a / b,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: torch.stack([a, b]),
    ],
)
def test_devices_must_agree(run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
    cpu, meta = torch.ones(3), torch.ones(3, device="meta")
    with pytest.raises(RuntimeError, match="Tensor on device meta is not on the expected device cpu!"):
        run(cpu, meta)
    with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
        run(meta, cpu)


def test_a_cpu_scalar_goes_with_any_device() -> None:
    meta = torch.ones(3, device="meta")
    assert (meta + torch.tensor(1.0)).device.type == "meta"
    assert torch.add(meta, torch.tensor(1.0), alpha=2).device.type == "meta"


def test_out_of_another_device() -> None:
    cpu, meta = torch.ones(3), torch.ones(3, device="meta")
    for run in (torch.add, torch.mul):
        with pytest.raises(RuntimeError, match="Attempting to copy from device cpu to device meta, but cross-device"):
            run(cpu, cpu, out=meta)
    with pytest.raises(RuntimeError, match="Attempting to copy from device cpu to device meta, but cross-device"):
        torch.cat([cpu, cpu], out=torch.ones(6, device="meta"))
    scalar = torch.ones((), device="meta")
    assert torch.sum(cpu, 0, out=scalar) is scalar
