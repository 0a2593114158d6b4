"""Sizes that do not fit: in 64 bits, in memory, in numpy."""

from __future__ import annotations

import pytest

from engine import torch


def test_a_tensor_without_elements_may_be_of_any_size() -> None:
    t = torch.zeros(0, 2**62)
    assert tuple(t.shape) == (0, 2**62)
    assert tuple((t + 1).shape) == (0, 2**62)
    assert t.sum().item() == 0


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (lambda: torch.zeros(1).expand(2**62, 4), "numel: integer multiplication overflow"),
        (lambda: torch.zeros(0, 2**62, 4), "Stride calculation overflowed"),
        (lambda: torch.zeros(2**62, 4, 0), "Storage size calculation overflowed with sizes="),
        (lambda: torch.ones(2**55), "you tried to allocate 144115188075855872 bytes. Error code 12"),
        (lambda: torch.ones(1).resize_(2**55), "you tried to allocate 144115188075855872 bytes. Error code 12"),
        (lambda: torch.arange(0, 1e18, 1), "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000"),
    ],
)
def test_refused(source, text: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        source()
    assert text in str(caught.value)
