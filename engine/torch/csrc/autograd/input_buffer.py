"""torch/csrc/autograd/input_buffer.h: collects the gradients that arrive at a node until all are there.

Differs: streams and sparse gradients are left out.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd.grad_layout_contract import is_non_overlapping_and_dense
from engine.torch.csrc.autograd.use_count import storage_use_count, use_count

__all__ = ["InputBuffer"]


class InputBuffer:
    """One slot per input of a node; what arrives twice is summed."""

    __slots__ = ("buffer",)

    def __init__(self, size: int | list[Any]) -> None:
        self.buffer: list[Any] = [None] * size if isinstance(size, int) else size

    def add(self, pos: int, var: Any) -> None:
        if var is None:
            return
        buffer = self.buffer
        if buffer[pos] is None:
            buffer[pos] = var
        elif doors.listener is None:
            _accumulate(buffer, pos, var)
        else:
            _announced_add(buffer, pos, var)

    def variables(self) -> list[Any]:
        """The gradients, moved out."""
        buffer = self.buffer
        self.buffer = []
        return buffer


def _can_accumulate_inplace(buffer: list[Any], pos: int) -> bool:
    """Whether the sum may go into the memory of what is there: nobody else holds it."""
    return (
        use_count(buffer, pos) == 1
        and is_non_overlapping_and_dense(buffer[pos])
        and storage_use_count(buffer[pos]) == 1
    )


def _accumulate(buffer: list[Any], pos: int, var: Any) -> None:
    from engine.aten import at

    if not tls.grad_mode and _can_accumulate_inplace(buffer, pos):
        buffer[pos] = at.add__Tensor.call(buffer[pos], var, 1)
    else:
        buffer[pos] = at.add_Tensor.call(buffer[pos], var, 1)


_announced_accumulate = doors.frame("torch::autograd::accumulate", layer="engine")(_accumulate)


@doors.frame("torch::autograd::InputBuffer::add", layer="engine", params=("buffer", "pos", "var"))
def _announced_add(buffer: list[Any], pos: int, var: Any) -> None:
    _announced_accumulate(buffer, pos, var)
