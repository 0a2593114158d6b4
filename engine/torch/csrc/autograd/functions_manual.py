"""torch/csrc/autograd/FunctionsManual.cpp: helpers that derivative formulas call.

Differs: only what the table's formulas need; overloads are told apart by the types of arguments.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

from engine import doors
from engine.aten.core.ops import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.expand_utils import _sum_to
from engine.aten.native.inline import as_strided_symint
from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import contiguous_format
from engine.c10.scalar_type import Long, ScalarType
from engine.torch.csrc.autograd.copy_slices import TensorGeometry

__all__ = ["TypeAndSize", "sum_to", "zeros_like"]

Sizes = tuple[int, ...]


def _details(name: str) -> Any:
    return doors.frame(f"torch::autograd::generated::details::{name}", layer="node")


class TypeAndSize:
    """What is saved for ``zeros_like(self)``."""

    __slots__ = ("device", "dtype", "layout", "sizes")

    def __init__(self, t: Tensor) -> None:
        self.sizes = t._sizes
        self.dtype = t._dtype
        self.layout = t._layout
        self.device = t._device

    def zeros(self) -> Tensor:
        return at.zeros.call(self.sizes, self.dtype, self.layout, self.device, None)  # type: ignore[no-any-return]


@doors.frame("at::zeros_like", layer="at")
def zeros_like(t: Tensor) -> Tensor:
    """A frame of its own in the formulas of zero_ and fill_."""
    return at.zeros_like.call(t, None, None, None, None, None)  # type: ignore[no-any-return]


def _zeros(sizes: Sizes, like: Tensor) -> Tensor:
    return at.zeros.call(sizes, like._dtype, like._layout, like._device, None)  # type: ignore[no-any-return]


def _mul(a: Tensor, b: Any) -> Tensor:
    return (at.mul_Tensor if isinstance(b, Tensor) else at.mul_Scalar).call(a, b)  # type: ignore[no-any-return]


def _div(a: Tensor, b: Any) -> Tensor:
    return (at.div_Tensor if isinstance(b, Tensor) else at.div_Scalar).call(a, b)  # type: ignore[no-any-return]


def _conj(x: Any) -> Any:
    if isinstance(x, Tensor):
        return at._conj.call(x) if x._dtype.is_complex else x
    return x.conjugate() if isinstance(x, complex) else x


def _wrap_dim(dim: int, ndim: int) -> int:
    return dim + max(ndim, 1) if dim < 0 else dim


# -- shapes


@doors.frame("at::sum_to", layer="at")
def sum_to(tensor: Tensor, shape: Sizes) -> Tensor:
    """Sum over what was broadcast, so that the result has ``shape``."""
    return _sum_to(tensor, tuple(shape))


@_details("unsqueeze_multiple")
def unsqueeze_multiple(t: Tensor, dims: Sequence[int] | None, n_dims: int) -> Tensor:
    """Put back the dimensions that a reduction over ``dims`` removed."""
    if dims is not None:
        if not dims:
            return t
        if len(dims) == 1:
            return at.unsqueeze.call(t, dims[0])  # type: ignore[no-any-return]
    wanted = range(n_dims) if dims is None else sorted(_wrap_dim(d, n_dims) for d in dims)
    for dim in wanted:
        t = at.unsqueeze.call(t, dim)
    return t


@_details("unsqueeze_to")
def unsqueeze_to(self: Tensor, *rest: Any) -> Tensor:
    """Undo squeeze: ``(sizes)``, ``(dim, sizes)`` or ``(dims, sizes)``."""
    sizes = rest[-1]
    ndim = len(sizes)
    if len(rest) == 1:
        dims = list(range(ndim))
    elif isinstance(rest[0], int):
        dims = [_wrap_dim(rest[0], ndim)] if ndim else []
    else:
        dims = sorted(_wrap_dim(d, ndim) for d in rest[0]) if ndim else []
    for dim in dims:
        if sizes[dim] == 1:
            self = at.unsqueeze.call(self, dim)
    return self


@_details("permute_backwards")
def permute_backwards(grad: Tensor, fwd_dims: Sequence[int]) -> Tensor:
    ndims = len(fwd_dims)
    dims = [0] * ndims
    for i, dim in enumerate(fwd_dims):
        dims[_wrap_dim(dim, ndims)] = i
    return at.permute.call(grad, tuple(dims))  # type: ignore[no-any-return]


@_details("slice_backward_wrapper")
def slice_backward_wrapper(
    grad: Tensor, input_sizes: Sizes, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    return at.slice_backward.call(  # type: ignore[no-any-return]
        grad, input_sizes, dim, 0 if start is None else start, 2**63 - 1 if end is None else end, step
    )


# -- reductions


@_details("sum_backward")
def sum_backward(grad: Tensor, sizes: Sizes, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    if not keepdim and sizes and dims:
        grad = unsqueeze_multiple(grad, dims, len(sizes))
    return at.expand.call(grad, sizes, False)  # type: ignore[no-any-return]


@_details("mean_backward")
def mean_backward(grad: Tensor, shape: Sizes, dim: Sequence[int] | None, numel: int, keepdim: bool) -> Tensor:
    n = numel if not dim else math.prod(shape[_wrap_dim(d, len(shape))] for d in dim) if shape else 1
    return at.div_Scalar.call(sum_backward(grad, shape, dim, keepdim), n)  # type: ignore[no-any-return]


@_details("evenly_distribute_backward")
def evenly_distribute_backward(grad: Tensor, input: Tensor, value: Tensor) -> Tensor:
    """Of max and min over everything: equal shares to all that were equal to the result."""
    nan = bool(at._local_scalar_dense.call(at.isnan.call(value)))
    mask = at.isnan.call(input) if nan else at.eq_Tensor.call(input, value)
    zeros = at.new_zeros.call(grad, input._sizes, input._dtype, input._layout, input._device, None)
    return at.masked_fill__Tensor.call(zeros, mask, _div(grad, at.sum.call(mask, None)))  # type: ignore[no-any-return]


# -- arithmetic


@_details("handle_r_to_c")
def handle_r_to_c(self: ScalarType | Tensor, gradient_result: Tensor) -> Tensor:
    """The gradient of a real input is real."""
    dtype = self._dtype if isinstance(self, Tensor) else self
    if not dtype.is_complex and gradient_result._dtype.is_complex:
        return at.real.call(gradient_result)  # type: ignore[no-any-return]
    return gradient_result


@_details("maybe_multiply")
def maybe_multiply(t: Tensor, s: Any) -> Tensor:
    """``t * s``, or ``t`` itself for 1."""
    if not isinstance(s, complex) and s == 1:
        return t
    return at.mul_Scalar.call(t, s)  # type: ignore[no-any-return]


_handle_r_to_c = handle_r_to_c.__wrapped__


@_details("mul_tensor_backward")
def mul_tensor_backward(grad: Tensor, other: Any, self_st: ScalarType) -> Tensor:
    return _handle_r_to_c(self_st, _mul(grad, _conj(other)))  # type: ignore[no-any-return]


@_details("div_tensor_self_backward")
def div_tensor_self_backward(grad: Tensor, other: Any, self_st: ScalarType, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is not None:
        return at.zeros_like.call(grad, grad._dtype, grad._layout, grad._device, None, None)  # type: ignore[no-any-return]
    return _handle_r_to_c(self_st, _div(grad, _conj(other)))  # type: ignore[no-any-return]


@_details("div_tensor_other_backward")
def div_tensor_other_backward(grad: Tensor, self: Tensor, other: Tensor, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is not None:
        return at.zeros_like.call(grad, grad._dtype, grad._layout, grad._device, None, None)  # type: ignore[no-any-return]
    # operands in the order in which compiled C++ evaluates them: the right one first
    quotient = at.div_Tensor.call(at.div_Tensor.call(self, other), other)
    return _handle_r_to_c(other, at.mul_Tensor.call(at.neg.call(grad), _conj(quotient)))  # type: ignore[no-any-return]


@_details("pow_backward")
def pow_backward(grad: Tensor, self: Tensor, exponent: Any) -> Tensor:
    if exponent == 0:
        return at.zeros_like.call(self, None, None, None, None, contiguous_format)  # type: ignore[no-any-return]
    exp = exponent if isinstance(exponent, complex) else float(exponent)
    power = at.mul_Scalar.call(at.pow_Tensor_Scalar.call(self, exp - 1), exp)
    return _handle_r_to_c(self, at.mul_Tensor.call(grad, _conj(power)))  # type: ignore[no-any-return]


@_details("pow_backward_self")
def pow_backward_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    power = at.mul_Tensor.call(exponent, at.pow_Tensor_Tensor.call(self, at.sub_Scalar.call(exponent, 1, 1)))
    value = at.mul_Tensor.call(grad, _conj(power))
    zero = _zeros((), grad)
    return _handle_r_to_c(self, at.where_self.call(at.eq_Scalar.call(exponent, 0.0), zero, value))  # type: ignore[no-any-return]


@_details("pow_backward_exponent")
def pow_backward_exponent(grad: Tensor, self: Any, exponent: Tensor, result: Tensor) -> Tensor:
    """For a tensor or a number as base."""
    if not isinstance(self, Tensor):
        log = cmath.log(self) if isinstance(self, complex) else math.log(self) if self > 0 else -math.inf
        if self < 0:
            log = math.nan
        out = _conj(at.mul_Scalar.call(result, log))
        if self == 0:
            out = at.where_self.call(at.ge_Scalar.call(exponent, 0), _zeros((), grad), out)
        return _handle_r_to_c(exponent, at.mul_Tensor.call(grad, out))  # type: ignore[no-any-return]
    positive = at.ge_Scalar.call(exponent, 0)
    cond = at.logical_and.call(at.eq_Scalar.call(self, 0), positive)
    promoted = at.result_type_Tensor.call(self, exponent)
    log = at.log.call(at.to_dtype.call(self, promoted, False, False, None))
    value = _conj(at.mul_Tensor.call(result, log))
    out = at.where_self.call(cond, _zeros((), grad), value)
    return _handle_r_to_c(exponent, at.mul_Tensor.call(grad, out))  # type: ignore[no-any-return]


# -- matrices


def _column_major(sizes: Sizes, strides: Sizes) -> bool:
    return strides[0] == 1 and strides[1] == sizes[0]


@_details("mm_mat1_backward")
def mm_mat1_backward(
    grad: Tensor, mat2: Tensor, mat1_sizes: Sizes, mat1_strides: Sizes, mat1_layout: Any, alpha: Any
) -> Tensor:
    """A column-major input gets a column-major gradient."""
    if _column_major(mat1_sizes, mat1_strides):
        product = at.t.call(at.mm.call(_conj(mat2), at.t.call(grad)))
    else:
        product = at.mm.call(grad, _conj(at.t.call(mat2)))
    return maybe_multiply(product, _conj(alpha))


@_details("mm_mat2_backward")
def mm_mat2_backward(
    grad: Tensor, mat1: Tensor, mat2_sizes: Sizes, mat2_strides: Sizes, mat2_layout: Any, alpha: Any
) -> Tensor:
    if _column_major(mat2_sizes, mat2_strides):
        product = at.t.call(at.mm.call(at.t.call(grad), _conj(mat1)))
    else:
        product = at.mm.call(_conj(at.t.call(mat1)), grad)
    return maybe_multiply(product, _conj(alpha))


# -- joining


@_details("cat_tensors_backward")
def cat_tensors_backward(grad: Tensor, sizes: list[Sizes], dtypes: list[ScalarType], dim: int) -> list[Tensor]:
    ndim = max((len(s) for s in sizes if s != (0,)), default=1)
    dim = _wrap_dim(dim, ndim)
    grads = []
    at_row = 0
    for shape, dtype in zip(sizes, dtypes, strict=True):
        value = _handle_r_to_c(dtype, grad)
        if shape == (0,):
            grads.append(_zeros((0,), value))
            continue
        grads.append(at.narrow.call(value, dim, at_row, shape[dim]))
        at_row += shape[dim]
    return grads


@_details("stack_tensors_backward")
def stack_tensors_backward(grad: Tensor, dim: int, dtypes: list[ScalarType]) -> list[Tensor]:
    dim = _wrap_dim(dim, len(grad._sizes))
    return [at.select_int.call(_handle_r_to_c(dtype, grad), dim, i) for i, dtype in enumerate(dtypes)]


@_details("unbind_backward")
def unbind_backward(grads: list[Tensor | None], dim: int) -> Tensor:
    like = next(g for g in grads if g is not None)
    full = [at.expand.call(_zeros((), like), like._sizes, False) if g is None else g for g in grads]
    return at.stack.call(full, dim)  # type: ignore[no-any-return]


@_details("split_with_sizes_backward")
def split_with_sizes_backward(
    grads: list[Tensor | None], split_sizes: Sequence[int], dim: int, sizes: Sizes, options: Any
) -> Tensor:
    dim = _wrap_dim(dim, len(sizes))
    dtype, layout, device = options.dtype_opt(), options.layout_opt(), options.device_opt()
    full = [
        at.zeros.call((*sizes[:dim], length, *sizes[dim + 1 :]), dtype, layout, device, None) if g is None else g
        for g, length in zip(grads, split_sizes, strict=True)
    ]
    return at.cat.call(full, dim)  # type: ignore[no-any-return]


@_details("split_backward")
def split_backward(grads: list[Tensor | None], split_size: int, dim: int, sym_sizes: Sizes, options: Any) -> Tensor:
    dim = _wrap_dim(dim, len(sym_sizes))
    split_sizes = [split_size] * len(grads)
    split_sizes[-1] = split_size - (split_size * len(grads) - sym_sizes[dim])
    return split_with_sizes_backward(grads, split_sizes, dim, sym_sizes, options)  # type: ignore[no-any-return]


# -- conversions


@_details("_to_copy_backward")
def _to_copy_backward(grad: Tensor, self_options: Any) -> Tensor:
    dtype = self_options.dtype_opt()
    value = _handle_r_to_c(dtype, grad)
    layout, device, pinned = self_options.layout_opt(), self_options.device_opt(), self_options.pinned_memory_opt()
    return at.to_dtype_layout.call(value, dtype, layout, device, pinned, False, False, None)  # type: ignore[no-any-return]


# -- as_strided


def _maybe_overlapping_memory(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    reached = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if stride <= reached:
            return True
        reached += stride * (size - 1)
    return False


def _min_storage_size(sizes: Sequence[int], strides: Sequence[int], storage_offset: int) -> int:
    if 0 in sizes:
        return storage_offset
    return storage_offset + 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


@_details("as_strided_backward")
def as_strided_backward(
    grad: Tensor, input_geometry: TensorGeometry, sizes: Sizes, strides: Sizes, storage_offset: int | None
) -> Tensor:
    """Scatter into a storage by the output's geometry, then look at it by the input's."""
    offset = input_geometry.storage_offset if storage_offset is None else storage_offset
    out_sizes: list[int] = []
    out_strides: list[int] = []
    for i in reversed(range(len(grad._sizes))):
        if sizes[i] == 0:
            return _zeros(input_geometry.sizes, grad)
        if sizes[i] == 1:
            grad = at.squeeze_dim.call(grad, i)
        elif strides[i] == 0:
            grad = at.sum_dim_IntList.call(grad, (i,), False, None)
        else:
            out_sizes.insert(0, sizes[i])
            out_strides.insert(0, strides[i])
    if 0 in input_geometry.sizes:
        return _zeros(input_geometry.sizes, grad)
    kept = [(s, t) for s, t in zip(input_geometry.sizes, input_geometry.strides, strict=True) if s != 1]
    inp_sizes, inp_strides = [s for s, _ in kept], [t for _, t in kept]
    out_overlaps = _maybe_overlapping_memory(out_sizes, out_strides)
    inp_overlaps = _maybe_overlapping_memory(inp_sizes, inp_strides)

    shared = min(input_geometry.storage_offset, offset)
    inp_offset, out_offset = input_geometry.storage_offset - shared, offset - shared
    base_size = max(
        _min_storage_size(inp_sizes, inp_strides, inp_offset), _min_storage_size(out_sizes, out_strides, out_offset)
    )
    storage = at.new_zeros.call(grad, (base_size,), None, None, None, None)
    indices = None
    if inp_overlaps or out_overlaps:
        indices = at.arange_start.call(0, base_size, Long, grad._layout, grad._device, None)
    if out_overlaps:
        where = as_strided_symint(indices, tuple(out_sizes), tuple(out_strides), out_offset)
        # arguments in the order in which compiled C++ evaluates them: the last one first
        source = at.reshape.call(grad, (-1,))
        at.index_add_.call(storage, 0, at.reshape.call(where, (-1,)), source, 1)
    else:
        at.copy_.call(as_strided_symint(storage, tuple(out_sizes), tuple(out_strides), out_offset), grad, False)
    if inp_overlaps:
        count = at.zeros_like.call(storage, None, None, None, None, contiguous_format)
        where = at.reshape.call(as_strided_symint(indices, tuple(inp_sizes), tuple(inp_strides), inp_offset), (-1,))
        ones = at.ones.call((1,), grad._dtype, grad._layout, grad._device, None)
        at.index_add_.call(count, 0, where, at.expand_as.call(ones, where), 1)
        at.div__Tensor.call(storage, count)
    return as_strided_symint(storage, input_geometry.sizes, input_geometry.strides, inp_offset)  # type: ignore[no-any-return]


@_details("not_implemented")
def not_implemented(name: str, reason: str = "") -> Tensor:
    TORCH_CHECK(False, f"the derivative for '{name}' is not implemented." + (f" {reason}" if reason else ""))
    raise AssertionError
