"""aten/src/ATen/native/TensorFactories.cpp: tensors with a value in them: full, ones, zeros, eye and their relatives.

Differs: strided tensors on CPU and Meta only.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.empty_tensor import empty_cpu as detail_empty_cpu
from engine.aten.native.fill import fill_out
from engine.aten.native.inline import empty, empty_like, empty_symint
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout, Sparse
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import Bool, Long, ScalarType, get_default_complex_dtype, get_default_dtype

__all__ = [
    "eye",
    "eye_m",
    "eye_out_cpu",
    "eye_out_cpu_n",
    "full",
    "full_like",
    "full_out",
    "infer_full_options",
    "new_full",
    "new_ones",
    "new_zeros",
    "ones",
    "ones_like",
    "ones_out",
    "scalar_tensor",
    "zeros_like",
    "zeros_out",
    "zeros_symint",
]

Sizes = tuple[int, ...]


@doors.frame("at::native::new_full")
def new_full(
    self: Tensor,
    size: Sizes,
    fill_value: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    dtype = self._dtype if dtype is None else dtype
    layout = self._layout if layout is None else layout
    r = at.new_empty.call(self, size, dtype, layout, device, pin_memory)
    return at.fill__Scalar.call(r, fill_value)


@doors.frame("at::native::new_ones")
def new_ones(
    self: Tensor,
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    r = at.new_empty.call(self, size, dtype, layout, device, pin_memory)
    return at.fill__Scalar.call(r, 1.0)


@doors.frame("at::native::new_zeros")
def new_zeros(
    self: Tensor,
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return at.zero_.call(at.new_empty.call(self, size, dtype, layout, device, pin_memory))


# ---- full, ones, zeros


def infer_full_options(fill_value: Any, dtype: ScalarType | None) -> ScalarType:
    """The type that the fill value asks for, when the caller asks for none."""
    if dtype is not None:
        return dtype
    if isinstance(fill_value, bool):
        return Bool
    if isinstance(fill_value, int):
        return Long
    if isinstance(fill_value, complex):
        return get_default_complex_dtype()
    return get_default_dtype()


@doors.frame("at::native::full")
def full(
    size: Sizes,
    fill_value: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    TORCH_CHECK(layout is not Sparse, "full(...) is not implemented for sparse layout")
    result = empty(size, infer_full_options(fill_value, dtype), layout, device, pin_memory)
    return at.fill__Scalar.call(result, fill_value)


@doors.frame("at::native::full_out")
def full_out(size: Sizes, fill_value: Any, out: Tensor) -> Tensor:
    at.resize_.call(out, size, None)
    return at.fill__Scalar.call(out, fill_value)


@doors.frame("at::native::full_like")
def full_like(
    self: Tensor,
    fill_value: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    result = empty_like(self, dtype, layout, device, pin_memory, memory_format)
    return at.fill__Scalar.call(result, fill_value)


@doors.frame("at::native::ones")
def ones(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return full(size, 1.0, dtype, layout, device, pin_memory)


@doors.frame("at::native::ones_out")
def ones_out(size: Sizes, out: Tensor) -> Tensor:
    return full_out(size, 1.0, out)


@doors.frame("at::native::ones_like")
def ones_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    result = at.empty_like.call(self, dtype, layout, device, pin_memory, memory_format)
    return at.fill__Scalar.call(result, 1.0)


@doors.frame("at::native::zeros_symint")
def zeros_symint(
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    TORCH_CHECK(min(size, default=0) >= 0, "zeros: Dimension size must be non-negative.")
    return at.zero_.call(empty_symint(size, dtype, layout, device, pin_memory))


@doors.frame("at::native::zeros_out")
def zeros_out(size: Sizes, out: Tensor) -> Tensor:
    at.resize_.call(out, size, None)
    return at.zero_.call(out)


@doors.frame("at::native::zeros_like")
def zeros_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return at.zero_.call(empty_like(self, dtype, layout, device, pin_memory, memory_format))


@doors.frame("at::native::scalar_tensor")
def scalar_tensor(
    s: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    if device is None or device.type == "cpu":
        # the short way: no dispatcher call for a CPU tensor
        return fill_out(detail_empty_cpu((), dtype, layout, pin_memory), s)
    return at.fill__Scalar.call(empty((), dtype, layout, device, pin_memory), s)


# ---- eye


@doors.frame("at::native::eye")
def eye(
    n: int, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    # the default would be a second n here
    return at.eye_m.call(n, n, dtype, layout, device, pin_memory)


@doors.frame("at::native::eye")
def eye_m(
    n: int, m: int, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    tensor = empty((0,), dtype, layout, device, pin_memory)  # to be resized
    return at.eye_m_out.call(n, m, tensor)


@doors.frame("at::native::eye_out_cpu")
def eye_out_cpu(n: int, m: int, out: Tensor) -> Tensor:
    TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n)
    TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m)
    at.resize_.call(out, (n, m), None)
    at.zero_.call(out)
    diagonal = out.array
    for i in range(min(n, m)):
        diagonal[i, i] = 1
    return out


@doors.frame("at::native::eye_out_cpu")
def eye_out_cpu_n(n: int, out: Tensor) -> Tensor:
    return eye_out_cpu(n, n, out)
