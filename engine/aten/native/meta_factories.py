"""torch/_meta_registrations.py and torch/_refs: factories on the Meta device, which PyTorch registers from Python.

A Python kernel calls ``torch.empty`` through its binding, so that frame is part of the road.

Differs: eye makes its tensor at once, where PyTorch's compares two aranges.
"""

from __future__ import annotations

import math
from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, wrapped_scalar_tensor
from engine.aten.native import prims
from engine.aten.native.filled_factories import infer_full_options
from engine.aten.native.prims import is_cpu_scalar, logical_to_physical_perm
from engine.aten.native.resize import resize_output_check
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_VALUE
from engine.c10.layout import Layout, Strided
from engine.c10.memory_format import MemoryFormat, Preserve, contiguous_strides
from engine.c10.scalar_type import BFloat16, Float, Half, Long, ScalarType, canCast, dtype_or_default, isIntegralType

__all__ = [
    "arange",
    "arange_out",
    "arange_start",
    "arange_start_out",
    "arange_start_step",
    "check_copy_devices",
    "convert",
    "empty_like",
    "eye",
    "eye_m",
    "eye_m_out",
    "eye_out",
    "fill",
    "full",
    "full_out",
    "give_out",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "normal_",
    "ones",
    "ones_like",
    "ones_out",
    "rand",
    "rand_out",
    "randn",
    "scalar_tensor",
    "uniform_",
    "zeros",
    "zeros_like",
    "zeros_out",
]

Sizes = tuple[int, ...]
Number = int | float


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


@doors.frame("new_empty")
def new_empty(
    self: Tensor,
    size: Sizes,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _empty(
        size,
        self._dtype if dtype is None else dtype,
        self._layout if layout is None else layout,
        self._device if device is None else device,
        pin_memory,
    )


@doors.frame("new_empty_strided")
def new_empty_strided(
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
        bool(pin_memory),
    )


@doors.frame("scalar_tensor")
def scalar_tensor(
    s: Any,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return _empty((), dtype, layout, device, pin_memory)


@doors.frame("meta_fill")
def fill(self: Tensor, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        TORCH_CHECK(
            value.dim_() == 0,
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim_()} dimensions.",
        )
    return at.empty_like.call(self, None, None, None, None, None)


# ---- eye, arange


@doors.frame("eye")
def eye_m(
    n: int, m: int, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n)
    TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m)
    return _empty((n, m), dtype, layout, device, pin_memory)


@doors.frame("eye")
def eye(
    n: int, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    return eye_m(n, n, dtype, layout, device, pin_memory)


@doors.frame("arange_default")
def arange(
    end: Number, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    return at.arange_start_step.call(0, end, 1, dtype, layout, device, pin_memory)


@doors.frame("arange_start")
def arange_start(
    start: Number,
    end: Number,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return at.arange_start_step.call(start, end, 1, dtype, layout, device, pin_memory)


@doors.frame("arange")
def arange_start_step(
    start: Number,
    end: Number,
    step: Number,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    TORCH_CHECK(step != 0, "step must be nonzero")
    TORCH_CHECK(end >= start if step > 0 else end <= start, "upper bound and lower bound inconsistent with step sign")
    TORCH_CHECK(math.isfinite(start) and math.isfinite(end), f"unsupported range: {start} -> {end}")
    TORCH_CHECK(math.isfinite(step), f"step must be finite but got {step}")
    integers = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    if dtype is None:
        dtype = Long if integers else dtype_or_default(None)
    whole = isIntegralType(dtype, includeBool=False)
    if dtype is Long or integers:
        first, last, by = int(start), int(end), int(step)
        TORCH_CHECK_VALUE(by != 0, "step must be nonzero")
        length = (last - first + by - (1 if by > 0 else -1)) // by
    else:
        length = math.ceil((end - start) / step)
    assert device is not None
    if whole:
        return prims.op("iota").call(length, int(start), int(step), dtype, device, False)
    index = prims.op("iota").call(length, 0, 1, Long, device, False)
    # counted, then scaled and shifted in the type of computation
    if not integers:
        index = convert(index, Float if dtype in (Half, BFloat16) else dtype)
    scaled = at.mul_Tensor.call(index, wrapped_scalar_tensor(step))
    return convert(at.add_Tensor.call(scaled, wrapped_scalar_tensor(start), 1), dtype)


def convert(t: Tensor, dtype: ScalarType) -> Tensor:
    """_maybe_convert_to_dtype"""
    return t if t._dtype is dtype else at.to_dtype.call(t, dtype, False, False, None)


@doors.frame("uniform_")
def uniform_(self: Tensor, from_: float, to: float, generator: Any) -> Tensor:
    drawn = prims.op("uniform").call(self._sizes, from_, to, self._dtype, self._device, generator)
    return at.copy_.call(self, drawn, False)


@doors.frame("normal_")
def normal_(self: Tensor, mean: float, std: float, generator: Any) -> Tensor:
    drawn = prims.op("normal").call(self._sizes, 0.0, 1.0, self._dtype, self._device, False, generator)
    scaled = at.mul_Tensor.call(drawn, wrapped_scalar_tensor(std))
    return at.copy_.call(self, at.add_Tensor.call(scaled, wrapped_scalar_tensor(mean), 1), False)


@doors.frame("randn")
def randn(
    size: Sizes, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    assert device is not None
    return prims.op("normal").call(size, 0.0, 1.0, dtype_or_default(dtype), device, False, None)


# ---- what writes to an out= argument


def check_copy_devices(copy_from: Tensor, copy_to: Tensor) -> None:
    TORCH_CHECK(
        copy_from._device == copy_to._device,
        f"Attempting to copy from device {copy_from._device.str()} to device {copy_to._device.str()}, but cross-device "
        "copies are not allowed!",
    )


def give_out(result: Tensor, out: Tensor) -> Tensor:
    """out_wrapper: the functional result is copied into ``out``, which is resized where it must."""
    if resize_output_check(out, result._sizes):
        at.resize_.call(out, result._sizes, None)
    if not is_cpu_scalar(result):
        check_copy_devices(result, out)
    TORCH_CHECK(
        canCast(result._dtype, out._dtype),
        f"Attempting to cast from {result._dtype} to out tensor with dtype {out._dtype}, but this can't be cast "
        "because it is not safe!",
    )
    return at.copy_.call(out, result, False)


@doors.frame("meta_ones")
def ones_out(size: Sizes, out: Tensor) -> Tensor:
    return give_out(_empty(size, out._dtype, Strided, out._device, False), out)


@doors.frame("meta_zeros")
def zeros_out(size: Sizes, out: Tensor) -> Tensor:
    return give_out(_empty(size, out._dtype, Strided, out._device, False), out)


@doors.frame("full")
def full_out(size: Sizes, fill_value: Any, out: Tensor) -> Tensor:
    e = at.empty_strided.call(size, contiguous_strides(size), out._dtype, Strided, out._device, False)
    return give_out(at.fill_Scalar.call(e, fill_value), out)


@doors.frame("meta_rand_default")
def rand_out(size: Sizes, out: Tensor) -> Tensor:
    return give_out(_empty(size, out._dtype, None, out._device, False), out)


@doors.frame("eye")
def eye_m_out(n: int, m: int, out: Tensor) -> Tensor:
    return give_out(eye_m(n, m, out._dtype, Strided, out._device, False), out)


@doors.frame("eye")
def eye_out(n: int, out: Tensor) -> Tensor:
    return eye_m_out(n, n, out)


@doors.frame("arange_default")
def arange_out(end: Number, out: Tensor) -> Tensor:
    return give_out(at.arange_start_step.call(0, end, 1, out._dtype, Strided, out._device, False), out)


@doors.frame("arange")
def arange_start_out(start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    return give_out(arange_start_step(start, end, step, out._dtype, Strided, out._device, False), out)
