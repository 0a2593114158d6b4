"""ATen/native/cpu/avx_mathfun.h: the float32 logarithm, sine and cosine of the AVX2 kernels, and fused multiply-add.

The polynomials are those of Cephes. PyTorch is compiled so that a product which is added to is rounded once; these
functions round where its code does, and give its bits.

Differs: only what the normal distribution needs, for positive finite arguments.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["fma32", "fma64", "log256_ps", "sincos256_ps"]

Float32s = npt.NDArray[np.float32]
Float64s = npt.NDArray[np.float64]

_LEAST_NORMAL: Final = float(np.finfo(np.float32).tiny)


def fma32(a: Float32s, b: Any, c: Any) -> Float32s:
    """``a * b + c`` in float32, rounded once.

    The product of two float32 is exact in float64. Rounding the sum there first does harm only where it lands half-way
    between two float32; such a sum is rounded to odd instead.
    """
    product = a.astype(np.float64) * np.asarray(b, dtype=np.float64)
    c = np.asarray(c, dtype=np.float64)
    total = product + c
    half_way = (total.view(np.int64) & 0x1FFFFFFF == 0x10000000) | (np.abs(total) < _LEAST_NORMAL)
    if half_way.any():
        total = _to_odd(*_two_sum(product, c))
    return total.astype(np.float32)


def fma64(a: Float64s, b: float, c: float) -> Float64s:
    """``a * b + c`` in float64, rounded once (Boldo and Melquiond 2008)."""
    if b == 1 and c == 0:
        return a
    product, product_lost = _two_product(a, np.float64(b))
    low, lowest = _two_sum(np.full_like(a, c), product_lost)
    high, middle = _two_sum(product, low)
    tail, tail_lost = _two_sum(middle, lowest)
    return high + _to_odd(tail, tail_lost)


def _two_sum(a: Float64s, b: Float64s) -> tuple[Float64s, Float64s]:
    """The sum and what rounding it lost."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _two_product(a: Float64s, b: np.float64) -> tuple[Float64s, Float64s]:
    """The product and what rounding it lost."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _split(x: Any) -> tuple[Any, Any]:
    """Two halves of 26 bits each whose products are exact."""
    scaled = 134217729.0 * x  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def _to_odd(total: Float64s, lost: Float64s) -> Float64s:
    """Where something was lost, the neighbour of ``total`` with an odd last bit that lies on that side."""
    bits = total.view(np.int64)
    towards = np.where((lost > 0) == (total > 0), 1, -1)
    step = np.where((lost != 0) & (bits & 1 == 0) & (total != 0), towards, 0)
    return (bits + step).view(np.float64)


_MANTISSA: Final = np.int32(0x007FFFFF)
_HALF: Final = np.int32(0x3F000000)
_SQRTHF: Final = np.float32(0.707106781186547524)
_LOG_P0: Final = np.float32(7.0376836292e-2)
_LOG_P: Final = (
    -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
    -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_LOG_Q1: Final = np.float32(-2.12194440e-4)
_LOG_Q2: Final = np.float32(0.693359375)


def log256_ps(x: Float32s) -> Float32s:
    """The natural logarithm of normal positive numbers."""
    bits = np.ascontiguousarray(x).view(np.int32)
    e = ((bits >> 23) - 126).astype(np.float32)
    m = (bits & _MANTISSA | _HALF).view(np.float32)  # [0.5, 1)
    small = m < _SQRTHF
    e = e - small.astype(np.float32)
    x = (m - np.float32(1)) + np.where(small, m, np.float32(0))
    z = x * x
    y = np.full_like(x, _LOG_P0)
    for p in _LOG_P:
        y = fma32(y, x, np.float32(p))
    y = fma32(y * x, z, e * _LOG_Q1)
    y = fma32(z, np.float32(-0.5), y)
    return fma32(e, _LOG_Q2, x + y)


_FOPI: Final = np.float32(1.27323954473516)  # 4 / pi
_MINUS_DP: Final = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # pi / 4 in three parts
_COS_P0: Final = np.float32(2.443315711809948e-005)
_COS_P: Final = (-1.388731625493765e-003, 4.166664568298827e-002)
_SIN_P0: Final = np.float32(-1.9515295891e-4)
_SIN_P: Final = (8.3321608736e-3, -1.6666654611e-1)


def sincos256_ps(x: Float32s) -> tuple[Float32s, Float32s]:
    """Sine and cosine of positive numbers."""
    octant = ((x * _FOPI).astype(np.int32) + 1) & ~1
    y = octant.astype(np.float32)
    for part in _MINUS_DP:
        x = fma32(y, np.float32(part), x)
    z = x * x
    cos = np.full_like(z, _COS_P0)
    for p in _COS_P:
        cos = fma32(cos, z, np.float32(p))
    cos = fma32(cos * z, z, z * np.float32(-0.5)) + np.float32(1)
    sin = np.full_like(z, _SIN_P0)
    for p in _SIN_P:
        sin = fma32(sin, z, np.float32(p))
    sin = fma32(sin * z, x, x)
    near_axis = octant & 2 == 0
    sine, cosine = np.where(near_axis, sin, cos), np.where(near_axis, cos, sin)
    return np.where(octant & 4, -sine, sine), np.where((octant - 2) & 4, cosine, -cosine)
