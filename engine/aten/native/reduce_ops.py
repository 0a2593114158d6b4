"""aten/src/ATen/native/ReduceOps.cpp, ReduceOpsUtils.h and ReduceAllOps: sum and mean."""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.structured import Functional, Out, StructuredKernel
from engine.aten.native.sum_kernel import dims_of, sum_kernel_impl
from engine.aten.native.tensor_iterator import TensorIterator, TensorIteratorConfig
from engine.aten.native.wrap_dim_utils import dim_list_to_bitset, maybe_wrap_dims
from engine.c10.exception import TORCH_CHECK
from engine.c10.scalar_type import BFloat16, Float, Half, Long, ScalarType, isIntegralType

__all__ = [
    "get_dtype_from_self",
    "infer_dtype_from_optional",
    "make_dim_mask",
    "make_reduction",
    "mean",
    "mean_dim",
    "mean_dtype_out",
    "mean_impl",
    "mean_meta",
    "mean_out",
    "reduce_op",
    "resize_reduction",
    "review_reduce_result",
    "shape_from_dim_mask",
    "should_use_acc_buffer",
    "sum",
    "sum_IntList_out",
    "sum_dim_IntList",
    "sum_impl",
    "sum_meta",
]

Sizes = tuple[int, ...]


# ---- ReduceOpsUtils.h


def get_dtype_from_self(self: Tensor, dtype: ScalarType | None, promote_integers: bool) -> ScalarType:
    if dtype is not None:
        return dtype
    if promote_integers and isIntegralType(self._dtype, includeBool=True):
        return Long
    return self._dtype


def infer_dtype_from_optional(self: Tensor, opt_dtype: ScalarType | None, result: Tensor | None) -> ScalarType:
    """The caller's dtype, else the output's, else what the input is summed in."""
    if result is not None:
        return result._dtype if opt_dtype is None else opt_dtype
    return get_dtype_from_self(self, opt_dtype, True)


def make_dim_mask(opt_dims: Sizes | None, ndim: int) -> frozenset[int]:
    """The dimensions to reduce: all of them where none is named."""
    return dim_list_to_bitset(opt_dims or None, ndim)


def shape_from_dim_mask(self: Tensor, mask: frozenset[int], keepdim: bool) -> Sizes:
    if keepdim:
        return tuple(1 if d in mask else size for d, size in enumerate(self._sizes))
    return tuple(size for d, size in enumerate(self._sizes) if d not in mask)


@doors.frame("at::meta::resize_reduction")
def resize_reduction(
    op: StructuredKernel, self: Tensor, opt_dims: Sizes | None, keepdim: bool, out_dtype: ScalarType
) -> None:
    dims = maybe_wrap_dims(opt_dims or (), self.dim_())
    shape = shape_from_dim_mask(self, make_dim_mask(dims, self.dim_()), keepdim)
    op.set_output_raw_strided(0, shape, (), out_dtype, self._device)


@doors.frame("at::native::review_reduce_result")
def review_reduce_result(result: Tensor, ndim: int, mask: frozenset[int], keepdim: bool) -> Tensor:
    """The output with the reduced dimensions put back, of size 1 and stride 0."""
    if keepdim:
        return result
    sizes, strides = list(result._sizes), list(result._strides)
    for d in range(ndim):
        if d in mask:
            sizes.insert(d, 1)
            strides.insert(d, 0)
    return at.as_strided.call(result, tuple(sizes), tuple(strides), None)


def reduce_op(out: Tensor, a: Tensor) -> TensorIterator:
    """TensorIterator::reduce_op"""
    return TensorIterator(
        TensorIteratorConfig(
            tensors=[out, a],
            num_outputs=1,
            check_mem_overlap=False,
            resize_outputs=False,
            is_reduction=True,
            promote_inputs_to_common_dtype=True,
        )
    )


@doors.frame("at::meta::make_reduction")
def make_reduction(
    self: Tensor, result: Tensor, opt_dims: Sizes | None, keepdim: bool, in_dtype: ScalarType
) -> TensorIterator:
    ndim = self.dim_()
    mask = make_dim_mask(opt_dims, ndim)
    viewed_result = review_reduce_result(result, ndim, mask, keepdim)
    if self._dtype is in_dtype:
        return reduce_op(viewed_result, self)
    return reduce_op(viewed_result, at.to_dtype.call(self, in_dtype, False, False, None))


# ---- sum


@doors.frame("at::meta::structured_sum_dim_IntList::meta")
def sum_meta(
    op: StructuredKernel, self: Tensor, opt_dim: Sizes | None, keepdim: bool, opt_dtype: ScalarType | None
) -> None:
    out_dtype = infer_dtype_from_optional(self, opt_dtype, op.maybe_get_output())
    resize_reduction(op, self, opt_dim, keepdim, out_dtype)


@doors.frame("at::native::structured_sum_out::impl")
def sum_impl(self: Tensor, opt_dim: Sizes | None, keepdim: bool, opt_dtype: ScalarType | None, result: Tensor) -> None:
    iter = make_reduction(self, result, opt_dim, keepdim, result._dtype)
    if self.numel_() == 0:
        at.zero_.call(result)
    elif should_use_acc_buffer(iter):
        tmp_output = at.empty_memory_format.call(result._sizes, Float, result._layout, result._device, False, None)
        as_float = at.to_dtype.call(self, Float, False, False, None)
        at.sum_IntList_out.call(as_float, opt_dim, keepdim, None, tmp_output)
        at.copy_.call(result, tmp_output, False)
    else:
        sum_kernel_impl(iter)


def should_use_acc_buffer(iter: TensorIterator) -> bool:
    """Two reduced dimensions that do not become one: the second would be added up in 16 bits."""
    if iter.output()._dtype not in (Half, BFloat16):
        return False
    dims = dims_of(iter)
    return len(dims) >= 2 and dims[0].out_stride == 0 and dims[1].out_stride == 0


def _run_sum(op: StructuredKernel, self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    sum_meta(op, self, dim, keepdim, dtype)
    assert op.out is not None
    if op.out._device.type != "meta":
        sum_impl(self, dim, keepdim, dtype, op.out)
    return op.out


def sum_dim_IntList(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    return _run_sum(Functional(), self, dim, keepdim, dtype)


def sum_IntList_out(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None, out: Tensor) -> Tensor:
    return _run_sum(Out(out), self, dim, keepdim, dtype)


@doors.frame("at::native::sum")
def sum(self: Tensor, dtype: ScalarType | None) -> Tensor:
    return at.sum_dim_IntList.call(self, (), False, dtype)


# ---- mean


@doors.frame("at::meta::structured_mean_dim::meta")
def mean_meta(
    op: StructuredKernel, self: Tensor, opt_dim: Sizes | None, keepdim: bool, opt_dtype: ScalarType | None
) -> None:
    in_dtype = get_dtype_from_self(self, opt_dtype, True)
    if not (in_dtype.is_floating_point or in_dtype.is_complex):
        what, dtype = ("Input", self._dtype) if opt_dtype is None else ("Optional", opt_dtype)
        TORCH_CHECK(
            False,
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
            f"Got: {dtype.name}",
        )
    out_dtype = infer_dtype_from_optional(self, opt_dtype, op.maybe_get_output())
    resize_reduction(op, self, opt_dim, keepdim, out_dtype)


@doors.frame("at::native::structured_mean_out::impl")
def mean_impl(self: Tensor, opt_dim: Sizes | None, keepdim: bool, opt_dtype: ScalarType | None, result: Tensor) -> None:
    dtype = result._dtype
    if not opt_dim or self.dim_() == 0:
        dim_prod = self.numel_()
    else:
        dim_prod = 1
        for d in opt_dim:
            dim_prod *= self._sizes[d]
    if dtype not in (Half, BFloat16):
        at.div__Scalar.call(at.sum_IntList_out.call(self, opt_dim, keepdim, dtype, result), dim_prod)
        return
    # 16 bit types are summed and divided in float
    temp = at.to_dtype.call(result, Float, False, False, None)
    at.div__Scalar.call(at.sum_IntList_out.call(self, opt_dim, keepdim, Float, temp), dim_prod)
    at.copy_.call(result, temp, False)


def _run_mean(op: StructuredKernel, self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    mean_meta(op, self, dim, keepdim, dtype)
    assert op.out is not None
    if op.out._device.type != "meta":
        mean_impl(self, dim, keepdim, dtype, op.out)
    return op.out


def mean_dim(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    return _run_mean(Functional(), self, dim, keepdim, dtype)


def mean_out(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None, out: Tensor) -> Tensor:
    return _run_mean(Out(out), self, dim, keepdim, dtype)


@doors.frame("at::native::mean")
def mean(self: Tensor, dtype: ScalarType | None) -> Tensor:
    return at.mean_dim.call(self, (), False, dtype)


@doors.frame("at::native::mean_dtype_out")
def mean_dtype_out(self: Tensor, dtype: ScalarType | None, out: Tensor) -> Tensor:
    TORCH_CHECK(
        out._dtype.is_floating_point or out._dtype.is_complex,
        f"mean.dtype_out(): input types can't be cast to the desired output type {out._dtype.name}",
    )
    return at.mean_out.call(self, (), False, dtype, out)
