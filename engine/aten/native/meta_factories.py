"""torch/_meta_registrations.py and torch/_refs: factories on the Meta device, which PyTorch registers from Python.

A Python kernel calls ``torch.empty`` through its binding, so that frame is part of the road.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.expand_utils import insertion_sort
from engine.aten.native.tensor_factories import infer_full_options
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout, Strided
from engine.c10.memory_format import MemoryFormat, Preserve
from engine.c10.scalar_type import ScalarType, dtype_or_default

Sizes = tuple[int, ...]


@doors.frame("torch::autograd::THPVariable_empty", layer="python")
def _empty(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return at.empty_memory_format.call(size, dtype, layout, device, bool(pin_memory), memory_format)


@doors.frame("torch::autograd::THPVariable_full", layer="python")
def _full(
    size: Sizes,
    fill_value: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return at.full.call(size, fill_value, dtype, layout, device, bool(pin_memory))


@doors.frame("meta_ones")
def ones(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _empty(size, dtype_or_default(dtype), Strided if layout is None else layout, device, pin_memory)


@doors.frame("meta_zeros")
def zeros(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _empty(size, dtype_or_default(dtype), Strided if layout is None else layout, device, pin_memory)


@doors.frame("meta_rand_default")
def rand(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _empty(size, dtype, layout, device, pin_memory)


@doors.frame("full")
def full(
    size: Sizes,
    fill_value: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _empty(size, infer_full_options(fill_value, dtype), layout, device, pin_memory)


@doors.frame("empty_like")
def empty_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    dtype = self._dtype if dtype is None else dtype
    layout = self._layout if layout is None else layout
    device = self._device if device is None else device
    if memory_format is not None and memory_format is not Preserve:
        return _empty(self._sizes, dtype, layout, device, pin_memory, memory_format)
    order = logical_to_physical_perm(self)
    return at.empty_permuted.call(self._sizes, order, dtype, layout, device, bool(pin_memory))


def logical_to_physical_perm(*tensors: Tensor) -> Sizes:
    """compute_elementwise_output_logical_to_physical_perm: the dimensions from the slowest to the fastest moving."""
    shaped = [t for t in tensors if t._sizes]
    if not shaped:
        return ()
    shape = shaped[0]._sizes
    ndim = len(shape)
    if ndim == 1:
        return (0,)
    if all(t.is_contiguous_() for t in shaped):
        return tuple(range(ndim))

    def should_swap(idx_a: int, idx_b: int) -> int:
        for t in shaped:
            stride_a, stride_b = t._strides[idx_a], t._strides[idx_b]
            if stride_a == 0 or stride_b == 0:
                continue
            if stride_a != stride_b:
                return -1 if stride_a < stride_b else 1
            if shape[idx_a] > shape[idx_b]:
                return 1
        return 0

    perm = list(range(ndim - 1, -1, -1))
    insertion_sort(perm, should_swap)
    return tuple(reversed(perm))


@doors.frame("ones_like")
def ones_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return at.full_like.call(self, 1, dtype, layout, device, pin_memory, memory_format)


@doors.frame("zeros_like")
def zeros_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    res = at.empty_like.call(self, dtype, layout, device, pin_memory, memory_format)
    return at.fill__Scalar.call(res, 0)


@doors.frame("new_full")
def new_full(
    self: Tensor,
    size: Sizes,
    fill_value: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _full(
        size,
        fill_value,
        self._dtype if dtype is None else dtype,
        self._layout if layout is None else layout,
        self._device if device is None else device,
        pin_memory,
    )


@doors.frame("new_ones")
def new_ones(
    self: Tensor,
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return new_full(self, size, 1, dtype, layout, device, pin_memory)


@doors.frame("new_zeros")
def new_zeros(
    self: Tensor,
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return new_full(self, size, 0, dtype, layout, device, pin_memory)


@doors.frame("eye_out_meta")
def eye_out_meta(n: int, m: int, out: Tensor) -> Tensor:
    TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n)
    TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m)
    return at.resize_.call(out, (n, m), None)


@doors.frame("eye_out_meta")
def eye_out_meta_n(n: int, out: Tensor) -> Tensor:
    return eye_out_meta(n, n, out)
