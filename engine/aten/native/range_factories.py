"""aten/src/ATen/native/RangeFactories.cpp and TensorFactories.cpp: arange."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.inline import contiguous, empty
from engine.aten.native.type_cast import checked_convert, convert
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_NOT_IMPLEMENTED, TORCH_CHECK_VALUE, TORCH_WARN
from engine.c10.layout import Layout
from engine.c10.scalar_type import (
    BFloat16,
    Byte,
    Char,
    Double,
    Float,
    Half,
    Int,
    Long,
    ScalarType,
    Short,
)

__all__ = [
    "arange",
    "arange_check_bounds",
    "arange_out",
    "arange_start",
    "arange_start_out",
    "arange_start_step",
    "arange_stub",
    "compute_arange_size",
]

Number = int | float

_ARANGE = (Byte, Char, Short, Int, Long, Half, Float, Double, BFloat16)


@doors.frame("at::native::arange")
def arange(
    end: Number, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    return arange_start(0, end, dtype, layout, device, pin_memory)


@doors.frame("at::native::arange")
def arange_start(
    start: Number,
    end: Number,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return arange_start_step(start, end, 1, dtype, layout, device, pin_memory)


@doors.frame("at::native::arange")
def arange_start_step(
    start: Number,
    end: Number,
    step: Number,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    # all integers and no dtype asked for: the result is Long
    if dtype is None and all(isinstance(x, int) for x in (start, end, step)):
        dtype = Long
    result = empty((0,), dtype, layout, device, pin_memory)
    return at.arange_start_out.call(start, end, step, result)


@doors.frame("at::native::arange_out")
def arange_out(end: Number, out: Tensor) -> Tensor:
    return at.arange_start_out.call(0, end, 1, out)


@doors.frame("at::native::arange_out")
def arange_start_out(start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    dtype = out._dtype
    if dtype not in _ARANGE:
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"arange_cpu\" not implemented for '{dtype.name}'")
    return _arange_out_lambda(start, end, step, out)


@doors.frame("at::native::arange_out(...)::{lambda()#1}::operator()")
def _arange_out_lambda(start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    size = compute_arange_size(start, end, step, out._dtype)
    numel = out.numel_()
    if numel != size:
        if numel > 0:
            TORCH_WARN(
                f"The number of elements in the out tensor of shape {list(out._sizes)} is {numel} which does not "
                f"match the computed number of elements {size}. Note that this may occur as a result of rounding "
                f"error. The out tensor will be resized to a tensor of shape ({size},)."
            )
        at.resize_.call(out, (size,), None)
    if out._device.type == "meta":
        return out
    if out.is_contiguous_():
        arange_stub(out, start, step)
        return out
    r = contiguous(out)
    arange_stub(r, start, step)
    at.copy_.call(out, r, False)
    return out


def arange_check_bounds(start: Number, end: Number, step: Number) -> None:
    xstart, xend, xstep = (float(checked_convert(x, Double)) for x in (start, end, step))
    TORCH_CHECK(xstep > 0 or xstep < 0, "step must be nonzero")
    TORCH_CHECK(math.isfinite(xstart) and math.isfinite(xend), "unsupported range: ", xstart, " -> ", xend)
    TORCH_CHECK(
        (xstep > 0 and xend >= xstart) or (xstep < 0 and xend <= xstart),
        "upper bound and lower bound inconsistent with step sign",
    )


def compute_arange_size(start: Number, end: Number, step: Number, dtype: ScalarType) -> int:
    """How many steps fit: computed with integers for Long, which may overflow, in double for the other types."""
    arange_check_bounds(start, end, step)
    if dtype is Long:
        xstart, xend, xstep = (int(checked_convert(x, Long)) for x in (start, end, step))
        TORCH_CHECK_VALUE(xstep != 0, "step must be nonzero")
        sign = 1 if xstep > 0 else -1
        span = (xend - xstart + xstep - sign + 2**63) % 2**64 - 2**63
        size = float(abs(span) // abs(xstep) * (1 if (span < 0) == (xstep < 0) else -1))
    else:
        quotient = (float(end) - float(start)) / float(step)
        size = float(math.ceil(quotient)) if math.isfinite(quotient) else quotient
    TORCH_CHECK(0 <= size <= float(2**63 - 1), "invalid size, possible overflow?")
    return int(size)


@doors.frame("at::native::arange_kernel")
def arange_stub(result: Tensor, start: Number, step: Number) -> None:
    dtype = result._dtype
    size = result.numel_()
    values: Any
    if dtype.is_floating_point:
        values = _float_steps(float(start), float(step), size, dtype)
    else:
        begin, by = (int(checked_convert(x, Long)) for x in (start, step))
        with np.errstate(over="ignore"):
            values = convert(np.int64(begin) + np.int64(by) * np.arange(size, dtype=np.int64), Long, dtype)
    result.array[...] = values.reshape(result._sizes)


def _float_steps(start: float, step: float, size: int, dtype: ScalarType) -> Any:
    """A vector register is filled from its first element, which has been rounded to ``dtype`` by then.

    Registers go in pairs; what is left after the last pair is computed one by one.
    """
    lanes = 32 // dtype.itemsize
    whole = size - size % (2 * lanes)
    steps = start + step * np.arange(size, dtype=np.float64)
    base = convert(steps[:whole:lanes], Double, dtype).astype(np.float64)
    steps[:whole] = (base[:, None] + step * np.arange(lanes, dtype=np.float64)).reshape(-1)
    return convert(steps, Double, dtype)
