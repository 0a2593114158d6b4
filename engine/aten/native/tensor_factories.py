"""aten/src/ATen/native/TensorFactories.cpp: tensors made from sizes and options.

Differs: strided tensors on CPU and Meta only; names are kept by ``empty`` and ``rand`` alone.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.empty_tensor import empty_cpu as detail_empty_cpu
from engine.aten.native.empty_tensor import empty_meta as detail_empty_meta
from engine.aten.native.empty_tensor import empty_strided_cpu as detail_empty_strided_cpu
from engine.aten.native.empty_tensor import empty_strided_meta as detail_empty_strided_meta
from engine.aten.native.expand_utils import infer_dense_strides
from engine.aten.native.geometry import is_non_overlapping_and_dense
from engine.aten.native.inline import empty_like as at_empty_like
from engine.aten.native.inline import empty_symint
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat, Preserve
from engine.c10.scalar_type import (
    ScalarType,
)

__all__ = [
    "check_size_match_names",
    "check_unique_names",
    "clone",
    "empty_cpu",
    "empty_like",
    "empty_meta_symint",
    "empty_names",
    "empty_out",
    "empty_permuted_symint",
    "empty_strided_cpu",
    "empty_strided_meta_symint",
    "lift_fresh",
    "new_empty_strided_symint",
    "new_empty_symint",
]

Sizes = tuple[int, ...]
Names = tuple[str | None, ...] | None


# ---- empty


@doors.frame("at::native::empty_cpu")
def empty_cpu(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return detail_empty_cpu(size, dtype, layout, pin_memory, memory_format)


@doors.frame("at::native::empty_meta_symint")
def empty_meta_symint(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return detail_empty_meta(size, dtype, layout, pin_memory, memory_format)


@doors.frame("at::native::empty_strided_cpu")
def empty_strided_cpu(
    size: Sizes,
    stride: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return detail_empty_strided_cpu(size, stride, dtype, pin_memory)


@doors.frame("at::native::empty_strided_meta_symint")
def empty_strided_meta_symint(
    size: Sizes,
    stride: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return detail_empty_strided_meta(size, stride, dtype, pin_memory)


def check_size_match_names(size: Sizes, names: Names) -> None:
    if names is None:
        return
    TORCH_CHECK(
        len(names) == len(size),
        "Number of names (",
        len(names),
        ") and number of dimensions in tensor (",
        len(size),
        ") do not match. Attempted to create a tensor with dims ",
        _dimnames(size),
        " with names ",
        _dimnames(names),
    )


def _dimnames(names: tuple[Any, ...]) -> str:
    return "[" + ", ".join("None" if n is None else f"'{n}'" if isinstance(n, str) else str(n) for n in names) + "]"


def check_unique_names(names: tuple[Any, ...]) -> None:
    for i, name in enumerate(names):
        TORCH_CHECK(
            name is None or name not in names[i + 1 :],
            "Cannot construct a tensor with duplicate names. Got names: ",
            _dimnames(names),
            ".",
        )


@doors.frame("at::native::empty_names")
def empty_names(
    size: Sizes,
    names: Names,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    if names is None:
        return at.empty_memory_format.call(size, dtype, layout, device, pin_memory, memory_format)
    check_size_match_names(size, names)
    result = at.empty_memory_format.call(size, dtype, layout, device, pin_memory, memory_format)
    check_unique_names(names)
    result._names = names
    return result


@doors.frame("at::native::empty_out")
def empty_out(size: Sizes, memory_format: MemoryFormat | None, out: Tensor) -> Tensor:
    for x in size:
        TORCH_CHECK(x >= 0, f"Trying to create tensor with negative dimension {x}: {list(size)}")
    at.resize_.call(out, size, memory_format)
    return out


@doors.frame("at::native::empty_permuted_symint")
def empty_permuted_symint(
    size: Sizes,
    physical_layout: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    """``physical_layout`` names the dimensions as they lie in memory, the slowest first."""
    dim = len(size)
    TORCH_CHECK(
        len(physical_layout) == dim,
        "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ",
        dim,
        " is not equal to len(physical_layout) = ",
        len(physical_layout),
    )
    seen: set[int] = set()
    for i, d in enumerate(physical_layout):
        TORCH_CHECK(
            0 <= d < dim,
            f"Dimension out of range (expected to be between 0 and {dim - 1}, but got {d} at index {i}).  "
            "NB: negative dims not currently supported; file an issue if you want it.",
        )
        TORCH_CHECK(d not in seen, "Duplicate dim not allowed")
        seen.add(d)
    physical = at.empty_memory_format.call(
        tuple(size[d] for d in physical_layout), dtype, layout, device, pin_memory, None
    )
    strides = [0] * dim
    for i, d in enumerate(physical_layout):
        strides[d] = physical._strides[i]
    return at.as_strided.call(physical, size, tuple(strides), None)


@doors.frame("at::native::empty_like")
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
    chosen = Preserve if memory_format is None else memory_format
    if chosen is not Preserve:
        return empty_symint(self._sizes, dtype, layout, device, pin_memory, chosen)
    if is_non_overlapping_and_dense(self):
        strides = self._strides
    else:
        # keep the order in which dimensions lie in memory
        strides = infer_dense_strides(self._sizes, self._strides)
    return at.empty_strided.call(self._sizes, strides, dtype, layout, device, pin_memory)


# ---- new_*


@doors.frame("at::native::new_empty_symint")
def new_empty_symint(
    self: Tensor,
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return at.empty_memory_format.call(
        size,
        self._dtype if dtype is None else dtype,
        self._layout if layout is None else layout,
        self._device if device is None else device,
        pin_memory,
        None,
    )


@doors.frame("at::native::new_empty_strided_symint")
def new_empty_strided_symint(
    self: Tensor,
    size: Sizes,
    stride: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return at.empty_strided.call(
        size,
        stride,
        self._dtype if dtype is None else dtype,
        self._layout if layout is None else layout,
        self._device if device is None else device,
        pin_memory,
    )


# ---- lift, clone


@doors.frame("at::native::lift_fresh")
def lift_fresh(self: Tensor) -> Tensor:
    return self


@doors.frame("at::native::clone")
def clone(self: Tensor, memory_format: MemoryFormat | None) -> Tensor:
    chosen = Preserve if memory_format is None else memory_format
    if chosen is not Preserve:
        result = at_empty_like(self, self._dtype, self._layout, self._device, False, chosen)
    elif is_non_overlapping_and_dense(self):
        result = at.empty_strided.call(self._sizes, self._strides, self._dtype, self._layout, self._device, False)
    else:
        result = at_empty_like(self)
    at.copy_.call(result, self, False)
    return result
