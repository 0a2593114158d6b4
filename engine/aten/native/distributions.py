"""aten/src/ATen/native/Distributions.cpp, DistributionTemplates.h and TensorFactories.cpp (rand): random numbers.

Differs: real floating-point types on CPU; Meta tensors stay as they are.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core import distributions as samples
from engine.aten.core.generator import Generator, get_generator_or_default
from engine.aten.core.tensor import Tensor
from engine.aten.native.inline import empty, empty_like
from engine.aten.native.memory_overlap import assert_no_internal_overlap
from engine.aten.native.tensor_factories import Names, Sizes, check_size_match_names
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_NOT_IMPLEMENTED
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import BFloat16, Double, Float, Half, ScalarType

__all__ = [
    "check_uniform_bounds",
    "normal_",
    "rand",
    "rand_generator",
    "rand_generator_out",
    "rand_generator_with_names",
    "rand_like",
    "rand_names",
    "rand_out",
    "randn",
    "randn_generator",
    "randn_generator_out",
    "randn_generator_with_names",
    "randn_like",
    "randn_names",
    "randn_out",
    "uniform_",
    "uniform_meta_",
    "write_in_memory_order",
]

_FLOATING = (Half, BFloat16, Float, Double)


# ---- rand


@doors.frame("at::native::rand")
def rand(
    size: Sizes, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    return rand_generator(size, None, dtype, layout, device, pin_memory)


@doors.frame("at::native::rand")
def rand_generator(
    size: Sizes,
    generator: Generator | None,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    result = empty(size, dtype, layout, device, pin_memory)
    return at.uniform_.call(result, 0, 1, generator)


@doors.frame("at::native::rand")
def rand_names(
    size: Sizes,
    names: Names,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return rand_generator_with_names(size, None, names, dtype, layout, device, pin_memory)


@doors.frame("at::native::rand")
def rand_generator_with_names(
    size: Sizes,
    generator: Generator | None,
    names: Names,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    check_size_match_names(size, names)
    result = at.empty_names.call(size, names, dtype, layout, device, pin_memory, None)
    return at.uniform_.call(result, 0, 1, generator)


@doors.frame("at::native::rand_out")
def rand_out(size: Sizes, out: Tensor) -> Tensor:
    return rand_generator_out(size, None, out)


@doors.frame("at::native::rand_out")
def rand_generator_out(size: Sizes, generator: Generator | None, out: Tensor) -> Tensor:
    at.resize_.call(out, size, None)
    return at.uniform_.call(out, 0, 1, generator)


@doors.frame("at::native::rand_like")
def rand_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return _rand_like(self, None, dtype, layout, device, pin_memory, memory_format)


@doors.frame("at::native::rand_like")
def _rand_like(
    self: Tensor,
    generator: Generator | None,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    result = empty_like(self, dtype, layout, device, pin_memory, memory_format)
    return at.uniform_.call(result, 0, 1, generator)


# ---- randn


@doors.frame("at::native::randn")
def randn(
    size: Sizes, dtype: ScalarType | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    return randn_generator(size, None, dtype, layout, device, pin_memory)


@doors.frame("at::native::randn")
def randn_generator(
    size: Sizes,
    generator: Generator | None,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    result = empty(size, dtype, layout, device, pin_memory)
    return at.normal_.call(result, 0, 1, generator)


@doors.frame("at::native::randn")
def randn_names(
    size: Sizes,
    names: Names,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    return randn_generator_with_names(size, None, names, dtype, layout, device, pin_memory)


@doors.frame("at::native::randn")
def randn_generator_with_names(
    size: Sizes,
    generator: Generator | None,
    names: Names,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    check_size_match_names(size, names)
    result = at.empty_names.call(size, names, dtype, layout, device, pin_memory, None)
    return at.normal_.call(result, 0, 1, generator)


@doors.frame("at::native::randn_out")
def randn_out(size: Sizes, out: Tensor) -> Tensor:
    return randn_generator_out(size, None, out)


@doors.frame("at::native::randn_out")
def randn_generator_out(size: Sizes, generator: Generator | None, out: Tensor) -> Tensor:
    at.resize_.call(out, size, None)
    return at.normal_.call(out, 0, 1, generator)


@doors.frame("at::native::randn_like")
def randn_like(
    self: Tensor,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    return _randn_like(self, None, dtype, layout, device, pin_memory, memory_format)


@doors.frame("at::native::randn_like")
def _randn_like(
    self: Tensor,
    generator: Generator | None,
    dtype: ScalarType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    result = empty_like(self, dtype, layout, device, pin_memory, memory_format)
    return at.normal_.call(result, 0, 1, generator)


# ---- in-place distributions


def write_in_memory_order(self: Tensor, values: np.ndarray) -> None:
    """Give the elements of ``self`` these values, in the order of a TensorIterator: smallest stride fastest."""
    if self.is_contiguous_():
        self.array[...] = values.reshape(self._sizes)
        return
    order = sorted(range(self.dim_()), key=lambda d: (self._strides[d], self._sizes[d], -d), reverse=True)
    self.array.transpose(order)[...] = values.reshape([self._sizes[d] for d in order])


@doors.frame("at::native::uniform_")
def uniform_(self: Tensor, from_: float, to: float, generator: Generator | None) -> Tensor:
    check_uniform_bounds(self._dtype, from_, to)
    assert_no_internal_overlap(self)
    gen = get_generator_or_default(generator)
    n = self.numel_()
    if n:
        write_in_memory_order(self, samples.uniform(gen, self._dtype, n, from_, to))
    return self


def check_uniform_bounds(dtype: ScalarType, from_: float, to: float) -> None:
    if dtype not in _FLOATING:
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"check_uniform_bounds\" not implemented for '{dtype.name}'")
    limit = float(ml_dtypes.finfo(dtype.np).max)  # type: ignore[arg-type]
    for name, value in (("from", from_), ("to", to)):
        TORCH_CHECK(-limit <= value <= limit, name, " is out of bounds for ", dtype.cpp_name)
    TORCH_CHECK(from_ <= to, "uniform_ expects to return a [from, to) range, but found from=", from_, " > to=", to)
    TORCH_CHECK(
        to - from_ <= limit,
        "uniform_ expects to-from <= std::numeric_limits<",
        dtype.name,
        ">::max(), but found to=",
        to,
        " and from=",
        from_,
        " which result in to-from to exceed the limit",
    )


@doors.frame("at::native::normal_")
def normal_(self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    TORCH_CHECK(std >= 0.0, "normal expects std >= 0.0, but found std ", std)
    dtype = self._dtype
    if dtype not in _FLOATING:
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"normal_kernel_cpu\" not implemented for '{dtype.name}'")
    n = self.numel_()
    if n:
        # a contiguous tensor is filled by blocks of 16, any other one by one
        contiguous = self.is_contiguous_()
        if not contiguous:
            assert_no_internal_overlap(self)
        gen = get_generator_or_default(generator)
        write_in_memory_order(self, samples.normal(gen, dtype, n, mean, std, contiguous))
    return self


@doors.frame("at::native::uniform_meta_")
def uniform_meta_(self: Tensor, from_: float, to: float, generator: Generator | None) -> Tensor:
    return self
