"""aten/src/ATen/native/TensorAdvancedIndexing.cpp: index_add, index_select, scatter_add and gather.

Differs: index_select asks for memory of the final size, where PyTorch resizes; a sum that meets an index twice adds in
the order of the index. Sparse gradients of gather are left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.structured import Functional, Inplace, Out, StructuredKernel
from engine.aten.native.wrap_dim_utils import maybe_wrap_dim
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_INDEX
from engine.c10.scalar_type import Int, Long

__all__ = [
    "gather",
    "gather_backward",
    "gather_out",
    "index_add",
    "index_add_",
    "index_add_out",
    "index_select_backward_symint",
    "index_select_cpu_",
    "scatter_add",
    "scatter_add_",
    "scatter_add_out",
]


def _shape(t: Tensor) -> list[int]:
    return list(t._sizes)


def _check_bounds(index: np.ndarray[Any, Any], dim: int, size: int) -> None:
    wrong = index[(index < 0) | (index >= size)]
    TORCH_CHECK(
        not wrong.size,
        f"index {wrong.flat[0] if wrong.size else 0} is out of bounds for dimension {dim} with size {size}",
    )


def is_meta(*tensors: Tensor) -> bool:
    """Whether the call is the Meta key's, which computes nothing whatever the device of the result."""
    return any(t._device.type == "meta" for t in tensors)


# ---- index_add


@doors.frame("at::meta::structured_index_add::meta")
def index_add_meta(op: StructuredKernel, self: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    dim = maybe_wrap_dim(dim, self.dim_())
    TORCH_CHECK_INDEX(
        index.dim_() <= 1,
        f"index_add_(): Index is supposed to be a vector, but got dim: {index.dim_()} with type: {index._dtype.name} "
        f"and size: {_shape(index)}",
    )
    TORCH_CHECK(
        index._dtype in (Int, Long),
        f"index_add_(): Expected dtype int32/int64 for index but got: {index._dtype.name}",
    )
    TORCH_CHECK(
        self._dtype is source._dtype,
        f"index_add_(): self ({self._dtype.name}) and source ({source._dtype.name}) must have the same scalar type",
    )
    entries = source._sizes[dim] if source.dim_() > dim else 1
    rest_of_self = self._sizes[:dim] + self._sizes[dim + 1 :]
    rest_of_source = source._sizes[:dim] + source._sizes[dim + 1 :]
    TORCH_CHECK(
        self._device == index._device == source._device,
        "index_add(): self, index and source expected to be in the same device, but got (self) "
        f"{self._device.str()}, (index) {index._device.str()}, and (source) {source._device.str()}",
    )
    TORCH_CHECK(
        self.dim_() == source.dim_() and rest_of_self == rest_of_source,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
        f"{_shape(self)} source.shape = {_shape(source)}",
    )
    TORCH_CHECK(
        index.numel_() == entries,
        f"index_add_(): Number of indices ({index.numel_()}) should be equal to source.size(dim): ({entries}), for "
        f"dim: {dim}",
    )
    op.set_output_raw_strided(0, self._sizes, (), self._dtype, self._device)
    return dim


@doors.frame("at::native::structured_index_add_cpu_out::impl")
def index_add_impl(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any, result: Tensor) -> None:
    if result is not self:
        at.copy_.call(result, self, False)
    if index.numel_() == 0 or self.numel_() == 0:
        return
    if result.dim_() > 1:
        if dim in (0, result.dim_() - 1) and alpha == 1 and index._dtype is Long:
            # one pass over the outer dimensions
            strides = [0] * source.dim_()
            strides[dim] = index._strides[0] if index.dim_() else 1
            expanded = at.as_strided.call(index, source._sizes, tuple(strides), None)
            at.scatter_add_.call(result, dim, expanded, source)
            return
        at.select_int.call(result, dim, 0)
        at.select_int.call(source, dim, 0)
        _check_bounds(index.array, dim, self._sizes[dim])
    else:
        bad = (index.array < 0) | (index.array >= max(self.numel_(), 1))
        TORCH_CHECK_INDEX(not bad.any(), "index out of range in self")
    target = np.moveaxis(np.atleast_1d(result.array), dim, 0)
    added = np.moveaxis(np.atleast_1d(source.array), dim, 0)
    np.add.at(target, np.atleast_1d(index.array), added * np.array(alpha, dtype=added.dtype))


def _run_index_add(op: StructuredKernel, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
    dim = index_add_meta(op, self, dim, index, source)
    assert op.out is not None
    if op.out._device.type != "meta":
        index_add_impl(self, dim, index, source, alpha, op.out)
    return op.out


def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
    return _run_index_add(Functional(), self, dim, index, source, alpha)


def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
    return _run_index_add(Inplace(self), self, dim, index, source, alpha)


def index_add_out(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any, out: Tensor) -> Tensor:
    return _run_index_add(Out(out), self, dim, index, source, alpha)


# ---- index_select


@doors.frame("at::native::index_select_cpu_")
def index_select_cpu_(self: Tensor, dim: int, index: Tensor) -> Tensor:
    dim = maybe_wrap_dim(dim, self.dim_())
    TORCH_CHECK_INDEX(index.dim_() <= 1, "index_select(): Index is supposed to be a vector")
    TORCH_CHECK(index._dtype in (Int, Long), "index_select(): Expected dtype int32 or int64 for index")
    entries = index.numel_()
    sizes = (*self._sizes[:dim], entries, *self._sizes[dim + 1 :]) if self.dim_() else ()
    result: Tensor = at.empty_memory_format.call(sizes, self._dtype, self._layout, self._device, None, None)
    if math.prod(sizes) == 0 or is_meta(self, index):
        return result
    if self.dim_() == 2:
        at.select_int.call(self, dim, 0)
        at.select_int.call(result, dim, 0)
    bad = (index.array < 0) | (index.array >= (self._sizes[dim] if self.dim_() else 1))
    TORCH_CHECK_INDEX(not bad.any(), "index out of range in self")
    if self.dim_():
        result.array[...] = np.take(self.array, np.atleast_1d(index.array), axis=dim)
    else:
        result.array[...] = self.array
    return result


@doors.frame("at::native::index_select_backward_symint")
def index_select_backward_symint(grad: Tensor, self_sizes: tuple[int, ...], dim: int, index: Tensor) -> Tensor:
    zeros = at.new_zeros.call(grad, self_sizes, grad._dtype, grad._layout, grad._device, None)
    return at.index_add_.call(zeros, dim, index, grad, 1)  # type: ignore[no-any-return]


# ---- scatter_add, gather


def _check_index(name: str, index: Tensor) -> bool:
    """Whether there is anything to do."""
    if index.numel_() == 0:
        return False
    TORCH_CHECK(index._dtype in (Int, Long), f"{name}(): Expected dtype int32/int64 for index")
    return True


def _rank(t: Tensor) -> int:
    return max(t.dim_(), 1)


@doors.frame("at::meta::structured_scatter_add::meta")
def scatter_add_meta(op: StructuredKernel, self: Tensor, dim: int, index: Tensor, src: Tensor) -> int:
    dim = maybe_wrap_dim(dim, self.dim_())
    if _check_index("scatter", index):
        TORCH_CHECK(self._dtype is src._dtype, "scatter(): Expected self.dtype to be equal to src.dtype")
        TORCH_CHECK(_rank(index) == _rank(self), "Index tensor must have the same number of dimensions as self tensor")
        maybe_wrap_dim(self.dim_() - 1 if self.dim_() else 0, src.dim_())
        own, theirs, given = (t._sizes or (1,) for t in (self, src, index))
        fits = len(theirs) == len(given) and all(
            (g <= o or d == dim) and g <= s for d, (g, o, s) in enumerate(zip(given, own, theirs, strict=True))
        )
        TORCH_CHECK(
            fits,
            f"Expected index {_shape(index)} to be no larger than self {_shape(self)} apart from dimension {dim} and "
            f"to be no larger size than src {_shape(src)}",
        )
    op.set_output_raw_strided(0, self._sizes, (), self._dtype, self._device)
    return dim


@doors.frame("at::native::structured_scatter_add::impl")
def scatter_add_impl(self: Tensor, dim: int, index: Tensor, src: Tensor, result: Tensor) -> None:
    if result is not self:
        at.copy_.call(result, self, False)
    if index.numel_() == 0:
        return
    long = at.to_dtype.call(index, Long, False, False, None)
    where = np.atleast_1d(long.array)
    target = np.atleast_1d(result.array)
    _check_bounds(where, dim, target.shape[dim])
    positions = list(np.indices(where.shape, sparse=True))
    positions[dim] = where
    np.add.at(target, tuple(positions), np.atleast_1d(src.array)[tuple(map(slice, where.shape))])


def _run_scatter_add(op: StructuredKernel, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    dim = scatter_add_meta(op, self, dim, index, src)
    assert op.out is not None
    if not is_meta(self, index, src, op.out):
        scatter_add_impl(self, dim, index, src, op.out)
    return op.out


def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _run_scatter_add(Functional(), self, dim, index, src)


def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _run_scatter_add(Inplace(self), self, dim, index, src)


def scatter_add_out(self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor) -> Tensor:
    return _run_scatter_add(Out(out), self, dim, index, src)


@doors.frame("at::meta::structured_gather::meta")
def gather_meta(op: StructuredKernel, self: Tensor, dim: int, index: Tensor) -> int:
    dim = maybe_wrap_dim(dim, self.dim_())
    op.set_output_raw_strided(0, index._sizes, (), self._dtype, self._device)
    if _check_index("gather", index):
        TORCH_CHECK(_rank(index) == _rank(self), "Index tensor must have the same number of dimensions as input tensor")
        for d, (given, own) in enumerate(zip(index._sizes, self._sizes, strict=False)):
            TORCH_CHECK(
                d == dim or given <= own,
                f"Size does not match at dimension {d} expected index {_shape(index)} to be no larger than self "
                f"{_shape(self)} apart from dimension {dim}",
            )
    return dim


@doors.frame("at::native::structured_gather_out::impl")
def gather_impl(self: Tensor, dim: int, index: Tensor, result: Tensor) -> None:
    if index.numel_() == 0:
        return
    long = at.to_dtype.call(index, Long, False, False, None)
    where, source = np.atleast_1d(long.array), np.atleast_1d(self.array)
    _check_bounds(where, dim, source.shape[dim])
    positions = list(np.indices(where.shape, sparse=True))
    positions[dim] = where
    np.atleast_1d(result.array)[...] = source[tuple(positions)]


def _run_gather(op: StructuredKernel, self: Tensor, dim: int, index: Tensor) -> Tensor:
    dim = gather_meta(op, self, dim, index)
    assert op.out is not None
    if not is_meta(self, index, op.out):
        gather_impl(self, dim, index, op.out)
    return op.out


def gather(self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    return _run_gather(Functional(), self, dim, index)


def gather_out(self: Tensor, dim: int, index: Tensor, sparse_grad: bool, out: Tensor) -> Tensor:
    return _run_gather(Out(out), self, dim, index)


@doors.frame("at::native::gather_backward")
def gather_backward(grad: Tensor, self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    zeros = at.new_zeros.call(grad, self._sizes, None, None, None, None)
    return at.scatter_add_.call(zeros, dim, index, grad)  # type: ignore[no-any-return]
