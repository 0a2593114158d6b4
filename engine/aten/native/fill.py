"""aten/src/ATen/native/Fill.cpp and cpu/FillKernel.cpp: writing one number everywhere."""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.geometry import is_non_overlapping_and_dense
from engine.aten.native.type_cast import checked_convert
from engine.c10.exception import TORCH_CHECK

__all__ = [
    "fill",
    "fill_",
    "fill__tensor",
    "fill_meta_",
    "fill_meta__tensor",
    "fill_out",
    "fill_tensor",
    "zero_",
    "zero_meta_",
]

GRAIN_SIZE = 32768


@doors.frame("at::native::fill_out")
def fill_out(self: Tensor, value: Any) -> Tensor:
    converted = checked_convert(value, self._dtype)
    self.array[...] = converted
    return self


@doors.frame("at::native::fill_")
def fill_(self: Tensor, value: Any) -> Tensor:
    return fill_out(self, value)


@doors.frame("at::native::fill_")
def fill__tensor(self: Tensor, value: Tensor) -> Tensor:
    TORCH_CHECK(
        value.dim_() == 0,
        "fill_ only supports 0-dimension value tensor but got tensor with ",
        value.dim_(),
        " dimensions.",
    )
    if self._device != value._device:
        return fill_out(self, at.item.call(value))
    # the copy reads the value and writes it everywhere; an overlapping value is cloned first
    if self._storage is value._storage:
        value = at.clone.call(value, None)
    at.copy_.call(self, value, False)
    return self


@doors.frame("at::native::fill_meta_")
def fill_meta_(self: Tensor, value: Any) -> Tensor:
    return self


@doors.frame("at::native::fill_meta_")
def fill_meta__tensor(self: Tensor, value: Tensor) -> Tensor:
    TORCH_CHECK(
        value.dim_() == 0,
        "fill_ only supports 0-dimension value tensor but got tensor with ",
        value.dim_(),
        " dimensions.",
    )
    return self


@doors.frame("at::native::fill")
def fill(self: Tensor, value: Any) -> Tensor:
    return at.fill__Scalar.call(at.empty_like.call(self, None, None, None, None, None), value)


@doors.frame("at::native::fill")
def fill_tensor(self: Tensor, value: Tensor) -> Tensor:
    return at.fill__Tensor.call(at.empty_like.call(self, None, None, None, None, None), value)


@doors.frame("at::native::zero_")
def zero_(self: Tensor) -> Tensor:
    """Small dense tensors are cleared directly, others through fill_."""
    nelements = self.numel_()
    if nelements < GRAIN_SIZE and is_non_overlapping_and_dense(self) and self._storage.data_ptr():
        self.array[...] = 0
        return self
    return at.fill__Scalar.call(self, 0)


@doors.frame("at::native::zero_meta_")
def zero_meta_(self: Tensor) -> Tensor:
    return self
