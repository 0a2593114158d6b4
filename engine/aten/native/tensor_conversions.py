"""aten/src/ATen/native/TensorConversions.cpp: ``to`` in its forms, and ``_to_copy`` below them.

Differs: strided tensors only; no pinned memory.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, view_of
from engine.aten.native.expand_utils import infer_dense_strides
from engine.aten.native.geometry import is_non_overlapping_and_dense, suggest_memory_format
from engine.aten.native.inline import empty_strided
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat, Preserve
from engine.c10.scalar_type import ScalarType

__all__ = ["_to_copy", "to_device", "to_dtype", "to_dtype_layout", "to_other", "view_dtype"]


@doors.frame("at::native::_to_copy")
def _to_copy(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: MemoryFormat | None,
) -> Tensor:
    TORCH_CHECK(
        layout is None or self._layout is layout,
        "to(options) doesn't support converting to a different layout, but got self.layout being ",
        self._layout,
        " and options.layout set as ",
        layout,
    )
    dtype = self._dtype if dtype is None else dtype
    device = self._device if device is None else device
    chosen = Preserve if memory_format is None else memory_format
    if chosen is Preserve:
        if is_non_overlapping_and_dense(self):
            strides = self._strides
        else:
            strides = infer_dense_strides(self._sizes, self._strides)
        r = empty_strided(self._sizes, strides, dtype, self._layout, device, False)
    else:
        r = at.empty_memory_format.call(self._sizes, dtype, self._layout, device, False, chosen)
    at.copy_.call(r, self, non_blocking)
    return r


def _to_will_alias(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> bool:
    """Whether nothing has to change: then ``to`` returns its argument."""
    chosen = Preserve if memory_format is None else memory_format
    return (
        (dtype is None or self._dtype is dtype)
        and (layout is None or self._layout is layout)
        and (device is None or self._device == device)
        and not copy
        and (chosen is Preserve or suggest_memory_format(self) is chosen)
    )


def _to_impl(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Tensor:
    if _to_will_alias(self, dtype, layout, device, copy, memory_format):
        return self
    return at._to_copy.call(self, dtype, layout, device, pin_memory, non_blocking, memory_format)


@doors.frame("at::native::to")
def to_dtype_layout(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return _to_impl(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format)


@doors.frame("at::native::type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    return at.to_dtype_layout.call(self, other._dtype, other._layout, other._device, None, False, False, None)


@doors.frame("at::native::to")
def to_device(
    self: Tensor,
    device: Device,
    dtype: ScalarType,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return _to_impl(self, dtype, None, device, None, non_blocking, copy, memory_format)


@doors.frame("at::native::to")
def to_dtype(
    self: Tensor, dtype: ScalarType, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None
) -> Tensor:
    return _to_impl(self, dtype, None, None, None, non_blocking, copy, memory_format)


@doors.frame("at::native::to")
def to_other(self: Tensor, other: Tensor, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None) -> Tensor:
    return _to_impl(self, other._dtype, other._layout, other._device, False, non_blocking, copy, memory_format)


@doors.frame("at::native::view_dtype")
def view_dtype(self: Tensor, dtype: ScalarType) -> Tensor:
    """The same bytes as elements of another type; where sizes differ the last dimension shrinks or grows."""
    if self._dtype is dtype:
        return at.alias.call(self)
    old, new = self._dtype.itemsize, dtype.itemsize
    sizes, strides, offset = self._sizes, self._strides, self._offset
    what = f"to view {self._dtype.name} as {dtype.name} (different element sizes)"
    if old == new:
        return view_of(self, sizes, strides, offset, dtype)
    TORCH_CHECK(self.dim_() != 0, "self.dim() cannot be 0 ", what)
    if old > new:
        ratio = old // new
        TORCH_CHECK(strides[-1] == 1, "self.stride(-1) must be 1 ", what, ", but got ", strides[-1])
        scaled = tuple(s * ratio for s in strides[:-1])
        return view_of(self, (*sizes[:-1], sizes[-1] * ratio), (*scaled, 1), offset * ratio, dtype)
    ratio = new // old
    TORCH_CHECK(sizes[-1] % ratio == 0, f"self.size(-1) must be divisible by {ratio} {what}, but got ", sizes[-1])
    TORCH_CHECK(offset % ratio == 0, f"self.storage_offset() must be divisible by {ratio} {what}, but got ", offset)
    TORCH_CHECK(strides[-1] == 1, "self.stride(-1) must be 1 ", what, ", but got ", strides[-1])
    for i, stride in enumerate(strides[:-1]):
        TORCH_CHECK(stride % ratio == 0, f"self.stride({i}) must be divisible by {ratio} {what}, but got ", stride)
    scaled = tuple(s // ratio for s in strides[:-1])
    return view_of(self, (*sizes[:-1], sizes[-1] // ratio), (*scaled, 1), offset // ratio, dtype)
