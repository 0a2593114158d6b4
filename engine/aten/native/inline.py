"""ATen/Functions.h and ATen/templates/TensorBody.h: the inline C++ forms that show up as frames of their own.

``at::empty(size, options)`` is a function above ``at::_ops::empty_memory_format::call``; most other inlines vanish in
the compiled library, and kernels then call ``at.NAME.call`` directly.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.geometry import is_contiguous
from engine.c10.device import Device
from engine.c10.layout import Layout
from engine.c10.memory_format import Contiguous, MemoryFormat
from engine.c10.scalar_type import ScalarType

__all__ = [
    "as_strided",
    "as_strided_symint",
    "contiguous",
    "empty",
    "empty_like",
    "empty_strided",
    "empty_symint",
    "fill_",
    "slice_method",
    "slice_symint",
]

Sizes = tuple[int, ...]


@doors.frame("at::empty", layer="at")
def empty(
    size: Sizes,
    dtype: ScalarType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return at.empty_memory_format.call(size, dtype, layout, device, pin_memory, memory_format)


@doors.frame("at::empty_symint", layer="at")
def empty_symint(
    size: Sizes,
    dtype: ScalarType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return at.empty_memory_format.call(size, dtype, layout, device, pin_memory, memory_format)


@doors.frame("at::empty_strided", layer="at")
def empty_strided(
    size: Sizes,
    stride: Sizes,
    dtype: ScalarType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return at.empty_strided.call(size, stride, dtype, layout, device, pin_memory)


@doors.frame("at::empty_like", layer="at")
def empty_like(
    self: Tensor,
    dtype: ScalarType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    return at.empty_like.call(self, dtype, layout, device, pin_memory, memory_format)


@doors.frame("at::Tensor::as_strided", layer="at")
def as_strided(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None = None) -> Tensor:
    return at.as_strided.call(self, size, stride, storage_offset)


@doors.frame("at::Tensor::as_strided_symint", layer="at")
def as_strided_symint(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None = None) -> Tensor:
    return at.as_strided.call(self, size, stride, storage_offset)


@doors.frame("at::TensorBase::fill_", layer="at")
def fill_(self: Tensor, value: Any) -> Tensor:
    return at.fill__Scalar.call(self, value)


@doors.frame("at::Tensor::slice", layer="at")
def slice_method(self: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    return at.slice_Tensor.call(self, dim, start, end, step)


@doors.frame("at::slice_symint", layer="at")
def slice_symint(self: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    return at.slice_Tensor.call(self, dim, start, end, step)


@doors.frame("at::TensorBase::contiguous", layer="at")
def contiguous(self: Tensor, memory_format: MemoryFormat = Contiguous) -> Tensor:
    """Without a dispatcher call where nothing is to be done."""
    if is_contiguous(self, memory_format):
        return self
    return __dispatch_contiguous(self, memory_format)


@doors.frame("at::TensorBase::__dispatch_contiguous", layer="at")
def __dispatch_contiguous(self: Tensor, memory_format: MemoryFormat) -> Tensor:
    return at.contiguous.call(self, memory_format)
