"""c10/util/TypeCast.h and c10/core/Scalar.h: converting numbers and elements from one type to another.

Differs: what C++ leaves undefined (a float that fits in no integer) is what the x86-64 build of PyTorch does.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_NOT_IMPLEMENTED
from engine.c10.scalar_type import (
    BFloat16,
    Bool,
    Byte,
    Char,
    ComplexDouble,
    ComplexFloat,
    ComplexHalf,
    Double,
    Float,
    Half,
    Int,
    Long,
    ScalarType,
    Short,
    UInt16,
    UInt32,
    UInt64,
)

__all__ = ["checked_convert", "convert"]

Array = npt.NDArray[Any]
Scalar = bool | int | float | complex

_VIA_INT32 = (Char, Short)
_VIA_INT64 = (Byte, UInt16, UInt32)

_CPP_NAMES = {
    Byte: "uint8_t", Char: "int8_t", Short: "int16_t", Int: "int", Long: "int64_t", UInt16: "uint16_t",
    UInt32: "uint32_t", UInt64: "uint64_t", ComplexFloat: "c10::complex<float>", ComplexHalf: "c10::complex<float>",
    ComplexDouble: "c10::complex<double>",
}  # fmt: skip
_FLOAT_LIMITS = {t: float(ml_dtypes.finfo(t.np).max) for t in (Half, BFloat16, Float, Double) if t.np is not None}
_FLOAT_LIMITS[ComplexFloat] = _FLOAT_LIMITS[ComplexHalf] = _FLOAT_LIMITS[Float]
_FLOAT_LIMITS[ComplexDouble] = _FLOAT_LIMITS[Double]


def np_dtype(dtype: ScalarType) -> np.dtype[Any]:
    """The numpy type of the elements; NotImplementedError where numpy has none."""
    found = dtype.np
    if found is None:
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"values of dtype {dtype.name} are not modelled")
    assert found is not None
    return found


def convert(array: Array, from_: ScalarType, to: ScalarType) -> Array:
    """``array``'s elements as elements of ``to``, as ``c10::convert`` does one by one."""
    if from_ is to:
        return array
    target = np_dtype(to)
    if to is Bool:
        return array != 0
    with np.errstate(all="ignore"):
        if from_.is_complex:
            if to.is_complex:
                return array.astype(target)
            array, from_ = array.real, Float if from_ is ComplexFloat else Double
        if from_.is_floating_point:
            if to in _VIA_INT32:
                return array.astype(np.int32).astype(target)
            if to in _VIA_INT64:
                return array.astype(np.int64).astype(target)
            if to.itemsize < 4 and to.is_floating_point:
                return array.astype(np.float32).astype(target)
        elif to.is_floating_point and to.itemsize < 4:
            return array.astype(np.float32).astype(target)
        return array.astype(target)


def checked_convert(value: Scalar, to: ScalarType) -> Any:
    """``Scalar::to<T>()``: the number as an element of ``to``; raises where it does not fit."""
    if to is Bool:
        return np.bool_(value != 0)
    if _overflows(value, to):
        name = _CPP_NAMES.get(to, to.cpp_name)
        TORCH_CHECK(False, "value cannot be converted to type ", name, " without overflow")
    target = np_dtype(to)
    if to.is_complex:
        return target.type(value)
    if isinstance(value, complex):
        value = value.real
    with np.errstate(all="ignore"):
        if to.is_floating_point:
            return np.float32(value).astype(target) if to.itemsize < 4 else target.type(value)
        if isinstance(value, float):
            value = -(2**63) if value >= 2**63 else int(value)  # only 2**63 itself passes the check
        size = 8 * to.itemsize
        value &= (1 << size) - 1
        if to.is_signed and value >> (size - 1):
            value -= 1 << size
        return target.type(value)


def _overflows(value: Scalar, to: ScalarType) -> bool:
    if isinstance(value, complex):
        if to.is_complex:
            return _overflows(value.real, to) or _overflows(value.imag, to)
        return value.imag != 0 or _overflows(value.real, to)
    if isinstance(value, bool):
        return False
    if to.is_floating_point or to.is_complex:
        limit = _FLOAT_LIMITS.get(to)
        if limit is None:
            limit = float(ml_dtypes.finfo(np_dtype(to)).max)
        infinite = isinstance(value, float) and value in (float("inf"), float("-inf"))
        return not infinite and (value < -limit or value > limit)
    info = np.iinfo(np_dtype(to))
    if isinstance(value, int):
        if value > info.max:
            return True
        # a negative number wraps in an unsigned type, as long as its magnitude fits
        return value < info.min and (to.is_signed or -value > info.max)
    return math.isnan(value) or value < float(info.min) or value > float(info.max)
