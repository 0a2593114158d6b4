"""ATen/core/DistributionsHelper.h, TransformationHelper.h and native/cpu/DistributionTemplates.h: samples.

Each function draws what PyTorch's CPU kernel draws for ``n`` elements, bit for bit, and returns a 1-D array of the
element type; a kernel writes it into its tensor in the order in which the TensorIterator visits it.

Differs: these are the kernels of x86 with AVX2, where a product that is added to is rounded once. On Intel's
processors PyTorch draws ``bernoulli_(p)`` and ``exponential_`` from MKL; here they come from the generator's stream.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final, ParamSpec

import numpy as np
import numpy.typing as npt

from engine.aten.core.avx_mathfun import fma32, fma64, log256_ps, sincos256_ps
from engine.aten.core.generator import CPUGeneratorImpl
from engine.c10 import exception
from engine.c10.scalar_type import (
    BFloat16,
    Bool,
    Double,
    Float,
    Half,
    Long,
    ScalarType,
    isIntegralType,
)

__all__ = [
    "bernoulli",
    "bernoulli_tensor",
    "cauchy",
    "check_from_to_in_range",
    "digits",
    "exponential",
    "geometric",
    "log_normal",
    "normal",
    "random",
    "random_from_to",
    "random_full_64_bits_range",
    "randperm",
    "uniform",
    "update_from",
    "update_to",
]

Array = npt.NDArray[Any]
P = ParamSpec("P")

_DIGITS: Final = {Half: 11, BFloat16: 8, Float: 24, Double: 53}
_MASK24: Final = np.uint64(2**24 - 1)
_MASK53: Final = np.uint64(2**53 - 1)
_INT64: Final = np.iinfo(np.int64)


def digits(dtype: ScalarType) -> int:
    """``std::numeric_limits<T>::digits``: bits of the significand."""
    return _DIGITS[dtype]


def _locked(kernel: Callable[P, Array]) -> Callable[P, Array]:
    """Hold the generator's lock meanwhile, so that threads do not tear each other's samples."""

    @functools.wraps(kernel)
    def locked(*args: P.args, **kwargs: P.kwargs) -> Array:
        generator: Any = args[0]
        with generator.mutex_:
            return kernel(*args, **kwargs)

    return locked


def _libm(fn: Callable[[float], float], x: Array) -> Array:
    """``fn`` of each element by the C library, which PyTorch's scalar kernels call; numpy has its own versions."""
    return np.fromiter(map(fn, x.tolist()), dtype=np.float64, count=x.size)


def _log(x: float) -> float:
    return math.log(x) if x else -math.inf


def _cast(x: Array, dtype: ScalarType) -> Array:
    assert dtype.np is not None
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype is Half or dtype is BFloat16:  # C++ converts through float
            x = x.astype(np.float32)
        return x.astype(dtype.np)


# ---- uniform reals


def _uniform_float(generator: CPUGeneratorImpl, n: int) -> npt.NDArray[np.float32]:
    """``uniform_real_distribution<float>(0, 1)``: 24 bits of a draw."""
    return (generator.randoms(n) & _MASK24).astype(np.float32) * np.float32(2.0**-24)


def _uniform_double(generator: CPUGeneratorImpl, n: int) -> npt.NDArray[np.float64]:
    """``uniform_real_distribution<double>(0, 1)``: 53 bits of two draws."""
    return (generator.randoms64(n) & _MASK53).astype(np.float64) * 2.0**-53


@_locked
def uniform(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, from_: float, to: float) -> Array:
    """``uniform_kernel``: n samples of [from, to)."""
    if dtype is Double:
        value: Array = _uniform_double(generator, n)
        if from_ != 0 or to != 1:
            value = fma64(value, to - from_, from_)
    else:
        value = _uniform_float(generator, n)
        if from_ != 0 or to != 1:
            value = fma32(value, np.float32(to) - np.float32(from_), np.float32(from_))
    value = _cast(value, dtype)
    upper, lower = _cast(np.array((to, from_)), dtype)
    value[value == upper] = lower  # rounded up to the bound that is excluded
    return value


# ---- normal


def _normal_distribution(generator: CPUGeneratorImpl, n: int, mean: float, std: float) -> Array:
    """``normal_distribution<double>`` n times: Box-Muller, whose second half waits in the generator."""
    samples = np.empty(n)
    waiting = generator.next_double_normal_sample()
    start = 0
    if waiting is not None and n:
        samples[0] = waiting
        start = 1
        generator.set_next_double_normal_sample(None)
    pairs = (n - start + 1) // 2
    if pairs:
        u = _uniform_double(generator, 2 * pairs)
        r = np.sqrt(-2.0 * _libm(math.log1p, -u[1::2]))
        theta = 2.0 * math.pi * u[0::2]
        both = np.empty(2 * pairs)
        both[0::2] = r * _libm(math.cos, theta)
        both[1::2] = r * _libm(math.sin, theta)
        samples[start:] = both[: n - start]
        if (n - start) % 2:
            generator.set_next_double_normal_sample(float(both[-1]))
    return fma64(samples, std, mean)


def _normal_fill_16_float(u: Array, mean: float, std: float) -> Array:
    """NormalFill16<float>: Box-Muller on rows of 16 uniforms."""
    radius = np.sqrt(np.float32(-2) * log256_ps(np.float32(1) - u[:, :8]))
    sin, cos = sincos256_ps(np.float32(2 * math.pi) * u[:, 8:])
    normal = np.concatenate((radius * cos, radius * sin), axis=1)
    return fma32(normal, np.float32(std), np.float32(mean))


def _normal_fill_16_double(u: Array, mean: float, std: float) -> Array:
    """NormalFill16<double>."""
    shape = (len(u), 8)
    radius = np.sqrt(-2 * _libm(math.log, 1 - u[:, :8].ravel())).reshape(shape)
    theta = (2.0 * math.pi * u[:, 8:]).ravel()
    cos, sin = _libm(math.cos, theta).reshape(shape), _libm(math.sin, theta).reshape(shape)
    return fma64(np.concatenate((radius * cos, radius * sin), axis=1), std, mean)


def _normal_fill(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, mean: float, std: float) -> Array:
    draw: Callable[..., Array] = _uniform_double if dtype is Double else _uniform_float
    fill = _normal_fill_16_double if dtype is Double else _normal_fill_16_float
    whole = n - n % 16
    # float and double draw for all n elements and then 16 more for the tail; the small types skip the unused ones
    u = draw(generator, n if dtype is Double or dtype is Float else whole)
    normal = np.empty(n, u.dtype)
    normal[:whole] = fill(u[:whole].reshape(-1, 16), mean, std).ravel()
    if n % 16:
        normal[n - 16 :] = fill(draw(generator, 16).reshape(1, 16), mean, std).ravel()
    return _cast(normal, dtype)


@_locked
def normal(
    generator: CPUGeneratorImpl, dtype: ScalarType, n: int, mean: float, std: float, contiguous: bool = True
) -> Array:
    """``normal_kernel``: blocks of 16 for contiguous tensors that have as many elements, else one by one."""
    if n >= 16 and contiguous:
        return _normal_fill(generator, dtype, n, mean, std)
    return _cast(_normal_distribution(generator, n, mean, std), dtype)


@_locked
def log_normal(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, mean: float, std: float) -> Array:
    """``log_normal_kernel``."""

    def exp(x: float) -> float:
        try:
            return math.exp(x)
        except OverflowError:
            return math.inf

    return _cast(_libm(exp, _normal_distribution(generator, n, mean, std)), dtype)


# ---- integers


def _from_uint64(value: Array, dtype: ScalarType) -> Array:
    return _cast(value.view(np.int64), dtype)


@_locked
def random_from_to(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, range_: int, base: int) -> Array:
    """``random_from_to_kernel``: n integers of [base, base + range)."""
    value = generator.randoms64(n) if range_ >= 1 << 28 else generator.randoms(n)
    return _from_uint64(value % np.uint64(range_) + np.uint64(base % 2**64), dtype)


@_locked
def random_full_64_bits_range(generator: CPUGeneratorImpl, dtype: ScalarType, n: int) -> Array:
    """``random_full_64_bits_range_kernel``: any int64."""
    if dtype not in (Long, Double, Float, BFloat16):
        raise exception.Error("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
    return _from_uint64(generator.randoms64(n), dtype)


@_locked
def random(generator: CPUGeneratorImpl, dtype: ScalarType, n: int) -> Array:
    """``random_kernel``: integers up to the largest of the type, or to 2**digits for floating types."""
    value = generator.randoms64(n) if dtype is Double or dtype is Long else generator.randoms(n)
    if dtype is Bool:
        return (value & np.uint64(1)).astype(np.bool_)
    if dtype.is_floating_point:
        bound = 2 ** digits(dtype) + 1
    else:
        bound = int(np.iinfo(dtype.np).max) + 1  # type: ignore[arg-type]
    return _from_uint64(value % np.uint64(bound), dtype)


def _cast_to_int(value: int, dtype: ScalarType) -> int:
    number = float(_cast(np.array([value]), dtype)[0])
    # what x86 makes of numbers that no int64 can hold
    return int(number) if -(2.0**63) <= number < 2.0**63 else _INT64.min


def _step(value: int, dtype: ScalarType) -> int:
    """The distance of neighbouring numbers of the type around ``value``."""
    n = max(abs(value).bit_length() - 1, 0)
    return int(1 << (n - digits(dtype) + 1))


def update_from(from_: int, dtype: ScalarType) -> int:
    """The least ``from`` whose successors do not round below it in this type."""
    from_plus_1 = _cast_to_int(from_ + 1, dtype)
    return from_plus_1 + _step(from_ + 1, dtype) if from_plus_1 < from_ else from_


def update_to(to: int, dtype: ScalarType) -> int:
    """The greatest ``to`` whose predecessor does not round up to it in this type."""
    to_minus_1 = _cast_to_int(to - 1, dtype)
    return to_minus_1 - _step(to - 1, dtype) if to_minus_1 >= to else to


def check_from_to_in_range(from_: int, to_inc: int, dtype: ScalarType) -> None:
    """Whether both bounds are numbers of the type; warns where not every integer between them is."""
    bounds = (("from", from_), ("to - 1", to_inc))
    lowest: float
    highest: float
    if dtype.is_floating_point:
        highest = {Half: 65504.0, BFloat16: 3.3895313892515355e38}.get(dtype) or float(np.finfo(dtype.np).max)  # type: ignore[arg-type]
        lowest = -highest
    elif dtype.torch_name == "uint64":
        lowest, highest = 0, _INT64.max
    elif isIntegralType(dtype, includeBool=True):
        lowest, highest = (0, 1) if dtype is Bool else (np.iinfo(dtype.np).min, np.iinfo(dtype.np).max)  # type: ignore[arg-type]
    else:
        raise exception.Error("check_random_bounds handles only integral, floating-point and boolean types")
    for name, value in bounds:
        if not lowest <= value <= highest:
            raise exception.Error(f"{name} is out of bounds for {dtype.cpp_name}")
    if dtype.is_floating_point:
        for name, value in bounds:
            if abs(value) > 1 << digits(dtype):
                exception.TORCH_WARN(
                    f"{name} is out of bounds [-(2^{digits(dtype)}), 2^{digits(dtype)}]. Due to precision limitations "
                    f"{dtype.cpp_name} can support discrete uniform distribution only within this range. This warning "
                    "will become an error in version 1.7 release, please fix the code in advance"
                )


@_locked
def randperm(generator: CPUGeneratorImpl, dtype: ScalarType, n: int) -> Array:
    """``randperm_cpu``: Fisher and Yates."""
    order = list(range(n))
    for i, draw in enumerate(generator.randoms(max(n - 1, 0)).tolist()):
        j = i + draw % (n - i)
        order[i], order[j] = order[j], order[i]
    return _cast(np.array(order, dtype=np.int64), dtype)


# ---- the rest, all of uniform doubles


@_locked
def bernoulli(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, p: float) -> Array:
    """``bernoulli_scalar_kernel``."""
    return _cast(_uniform_double(generator, n) < p, dtype)


@_locked
def bernoulli_tensor(generator: CPUGeneratorImpl, dtype: ScalarType, p: Array) -> Array:
    """``bernoulli_tensor_kernel``: one probability per element."""
    p = p.ravel()
    if p.dtype == np.float64:
        return _cast(_uniform_double(generator, p.size) < p, dtype)
    return _cast(_uniform_float(generator, p.size) < p.astype(np.float32), dtype)


@_locked
def exponential(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, lambda_: float) -> Array:
    """``exponential_kernel``."""
    return _cast(-1.0 / lambda_ * _libm(math.log1p, -_uniform_double(generator, n)), dtype)


@_locked
def cauchy(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, median: float, sigma: float) -> Array:
    """``cauchy_kernel``."""
    tan = _libm(math.tan, math.pi * (_uniform_double(generator, n) - 0.5))
    return _cast(fma64(tan, sigma, median), dtype)


@_locked
def geometric(generator: CPUGeneratorImpl, dtype: ScalarType, n: int, p: float) -> Array:
    """``geometric_kernel``."""
    return _cast(np.ceil(_libm(_log, _uniform_double(generator, n)) / math.log1p(-p)), dtype)
