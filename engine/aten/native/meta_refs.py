"""torch/_refs/__init__.py and torch/_meta_registrations.py: arithmetic, sums and views on the Meta device.

PyTorch registers Python functions for these: operands are converted and broadcast, and a ``prims`` operator makes the
result.

Differs: select_backward and slice_backward stop at the zeros, into which PyTorch's scatter the gradient.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, wrapped_scalar_tensor
from engine.aten.native import prims
from engine.aten.native.meta_factories import check_copy_devices, convert, give_out
from engine.aten.native.prims import elementwise_meta, is_cpu_scalar
from engine.aten.native.tensor_shape import check_t
from engine.aten.native.type_properties import result_type
from engine.aten.native.wrap_dim_utils import maybe_wrap_dim, maybe_wrap_dims
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_VALUE
from engine.c10.scalar_type import (
    BFloat16,
    Bool,
    Float,
    Half,
    Long,
    ScalarType,
    canCast,
    get_default_dtype,
    isIntegralType,
    scalar_dtype_of,
)

__all__ = [
    "_unsafe_view",
    "add",
    "add_out",
    "as_python",
    "binary",
    "binop_alpha",
    "binop_inplace",
    "binop_inplace_alpha",
    "broadcast",
    "check_alpha",
    "check_broadcast",
    "check_inplace_broadcast",
    "computation_dtype",
    "div",
    "div_inplace",
    "div_out",
    "is_same_size",
    "mean",
    "mean_dim",
    "mean_dtype_out",
    "mean_out",
    "mul",
    "mul_out",
    "neg",
    "neg_",
    "neg_out",
    "promoted",
    "reciprocal",
    "reciprocal_",
    "reciprocal_out",
    "reduction",
    "rsub",
    "select_backward",
    "slice_backward",
    "sub",
    "sub_out",
    "sum",
    "sum_IntList_out",
    "sum_dim_IntList",
    "t_",
    "tensor_of",
    "transpose_",
    "unsqueeze_",
]

Sizes = tuple[int, ...]
Scalar = bool | int | float | complex
Operand = Tensor | Scalar


# ---- types and shapes


def as_python(x: Operand) -> Operand:
    """A wrapped number arrives in Python as a plain number."""
    return x.array.item() if isinstance(x, Tensor) and x._wrapped else x


def computation_dtype(dtype: ScalarType) -> ScalarType:
    return Float if dtype in (Half, BFloat16) else dtype


def promoted(*args: Operand, to_float: bool = False) -> ScalarType:
    """elementwise_dtypes: the type of the result."""
    dtype = result_type(*args)
    if to_float and isIntegralType(dtype, includeBool=True):
        return get_default_dtype()
    return dtype


def check_broadcast(shapes: list[Sizes]) -> Sizes:
    """_broadcast_shapes"""
    common = [1] * max(map(len, shapes))
    for position, shape in enumerate(shapes):
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] == 1 or shape[i] == common[i]:
                continue
            if common[i] != 1:
                TORCH_CHECK(
                    False,
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
                    f"{position} had torch.Size({list(shape)}); but expected shape should be broadcastable to "
                    f"{common}",
                )
            common[i] = shape[i]
    return tuple(common)


def broadcast(*args: Operand) -> list[Operand]:
    """_maybe_broadcast: expands tensors that have not the common shape; numbers and CPU scalars stay."""
    shaped = [x for x in args if isinstance(x, Tensor) and not is_cpu_scalar(x)]
    if not shaped:
        return list(args)
    common = check_broadcast([x._sizes for x in shaped])
    return [
        at.expand.call(x, common, False) if isinstance(x, Tensor) and not is_cpu_scalar(x) and x._sizes != common else x
        for x in args
    ]


def tensor_of(x: Operand) -> Tensor:
    return x if isinstance(x, Tensor) else wrapped_scalar_tensor(x)


def binary(prim: str, a: Operand, b: Operand, alpha: Scalar | None = None, to_float: bool = False) -> Tensor:
    """What elementwise references share: promote, broadcast, the primitive, and back to the type of the result."""
    a, b = as_python(a), as_python(b)
    dtype = promoted(a, b, to_float=to_float)
    compute = computation_dtype(dtype)
    a, b = (convert(x, compute) if isinstance(x, Tensor) else x for x in (a, b))
    a, b = broadcast(a, b)
    if prim == "sub" and isinstance(a, Tensor) and isinstance(b, Tensor):
        TORCH_CHECK(
            a._dtype is not Bool and b._dtype is not Bool,
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead.",
        )
    if alpha is not None and alpha != 1:
        check_alpha(compute, alpha)
        b = prims.op("mul").call(b, tensor_of(alpha)) if isinstance(b, Tensor) else b * alpha
    return convert(prims.op(prim).call(tensor_of(a), tensor_of(b)), dtype)


_PYTHON_TYPES = (bool, int, float, complex)


def check_alpha(dtype: ScalarType, alpha: Scalar) -> None:
    if dtype is Bool:
        return
    kind = complex if dtype.is_complex else float if dtype.is_floating_point else int
    TORCH_CHECK_VALUE(
        _PYTHON_TYPES.index(type(alpha)) <= _PYTHON_TYPES.index(kind),
        f"alpha argument of type {type(alpha)} cannot be safely cast to type {kind}!",
    )


# ---- arithmetic


@doors.frame("add")
def add(self: Tensor, other: Operand, alpha: Scalar) -> Tensor:
    return binary("add", self, other, alpha)


@doors.frame("sub")
def sub(self: Tensor, other: Operand, alpha: Scalar) -> Tensor:
    return binary("sub", self, other, alpha)


@doors.frame("mul")
def mul(self: Tensor, other: Operand) -> Tensor:
    return binary("mul", self, other)


@doors.frame("div")
def div(self: Tensor, other: Operand) -> Tensor:
    return binary("div", self, other, to_float=True)


@doors.frame("rsub")
def rsub(self: Tensor, other: Operand, alpha: Scalar) -> Tensor:
    return at.sub_Tensor.call(tensor_of(other), self, alpha)


@doors.frame("neg")
def neg(self: Tensor) -> Tensor:
    TORCH_CHECK(
        self._dtype is not Bool,
        "Negation, the `-` operator, on a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
    )
    computed = prims.op("neg").call(convert(self, computation_dtype(self._dtype)))
    return convert(computed, self._dtype)


@doors.frame("reciprocal")
def reciprocal(self: Tensor) -> Tensor:
    dtype = promoted(self, to_float=True)
    return convert(prims.op("reciprocal").call(convert(self, computation_dtype(dtype))), dtype)


@doors.frame("add")
def add_out(self: Tensor, other: Operand, alpha: Scalar, out: Tensor) -> Tensor:
    check_copy_devices(self, out)
    return give_out(add(self, other, alpha), out)


@doors.frame("sub")
def sub_out(self: Tensor, other: Operand, alpha: Scalar, out: Tensor) -> Tensor:
    check_copy_devices(self, out)
    return give_out(sub(self, other, alpha), out)


@doors.frame("mul")
def mul_out(self: Tensor, other: Operand, out: Tensor) -> Tensor:
    check_copy_devices(self, out)
    return give_out(mul(self, other), out)


@doors.frame("div")
def div_out(self: Tensor, other: Operand, out: Tensor) -> Tensor:
    check_copy_devices(self, out)
    return give_out(div(self, other), out)


@doors.frame("neg")
def neg_out(self: Tensor, out: Tensor) -> Tensor:
    check_copy_devices(self, out)
    return give_out(neg(self), out)


@doors.frame("neg")
def neg_(self: Tensor) -> Tensor:
    return give_out(neg(self), self)


@doors.frame("reciprocal")
def reciprocal_out(self: Tensor, out: Tensor) -> Tensor:
    check_copy_devices(self, out)
    return give_out(reciprocal(self), out)


@doors.frame("reciprocal")
def reciprocal_(self: Tensor) -> Tensor:
    return give_out(reciprocal(self), self)


@doors.frame("meta_binop_alpha")
def binop_alpha(self: Tensor, other: Scalar, alpha: Scalar) -> Tensor:
    return elementwise_meta(convert(self, promoted(self, other)))


def check_inplace_broadcast(self: Tensor, other: Operand) -> None:
    if isinstance(other, Tensor):
        shape = check_broadcast([self._sizes, other._sizes])
        TORCH_CHECK(
            shape == self._sizes,
            f"output with shape torch.Size({list(self._sizes)}) doesn't match the broadcast shape {shape}",
        )


@doors.frame("meta_binop_inplace")
def binop_inplace(self: Tensor, other: Operand) -> Tensor:
    check_inplace_broadcast(self, as_python(other))
    return self


@doors.frame("meta_div_inplace")
def div_inplace(self: Tensor, other: Operand) -> Tensor:
    other = as_python(other)
    dtype = promoted(self, other, to_float=True)
    TORCH_CHECK(
        canCast(dtype, self._dtype),
        f"result type {dtype!r} can't be cast to the desired output type {self._dtype!r}",
    )
    check_inplace_broadcast(self, other)
    return self


@doors.frame("meta_binop_inplace_alpha")
def binop_inplace_alpha(self: Tensor, other: Operand, alpha: Scalar) -> Tensor:
    other = as_python(other)
    theirs = other._dtype if isinstance(other, Tensor) else scalar_dtype_of(other)
    TORCH_CHECK(
        not (isIntegralType(self._dtype, includeBool=False) and theirs.is_floating_point),
        "Promotion of int.add/sub_(float) in in-place ops are not possible due to element size change.",
    )
    TORCH_CHECK(
        self._dtype is not Bool or theirs is Bool,
        "Promotion of bool.add/sub_(others) in in-place ops are not possible due to element size change.",
    )
    check_inplace_broadcast(self, other)
    return self


# ---- sum and mean


def reduction(a: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType, keep_promoted: bool = False) -> Tensor:
    """_reduction over prims::sum."""
    dims = tuple(range(a.dim_())) if not dim else maybe_wrap_dims(dim, a.dim_())
    TORCH_CHECK(len(set(dims)) == len(dims), "duplicate value in the list of dims")
    computed = computation_dtype(dtype)
    result = prims.op("sum").call(convert(a, computed), dims, None)
    if keepdim:
        shape = tuple(1 if d in dims else size for d, size in enumerate(a._sizes))
        kept = tuple(d for d in range(a.dim_()) if d not in dims)
        result = prims.op("broadcast_in_dim").call(result, shape, kept)
    if computed is not dtype and not keep_promoted:
        result = prims.op("convert_element_type").call(result, dtype)
    return result


def _sum(a: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    if dtype is None:
        dtype = Long if isIntegralType(a._dtype, includeBool=True) else a._dtype
    return reduction(a, dim, keepdim, dtype)


@doors.frame("sum")
def sum_dim_IntList(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    return _sum(self, dim, keepdim, dtype)


@doors.frame("sum")
def sum_IntList_out(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None, out: Tensor) -> Tensor:
    return give_out(_sum(self, dim, keepdim, out._dtype if dtype is None else dtype), out)


@doors.frame("sum_default")
def sum(self: Tensor, dtype: ScalarType | None) -> Tensor:
    return at.sum_dim_IntList.call(self, (), False, dtype)


def _mean(a: Tensor, dim: Sizes | None, keepdim: bool, opt_dtype: ScalarType | None) -> Tensor:
    dtype = a._dtype if opt_dtype is None else opt_dtype
    result = reduction(a, dim, keepdim, dtype, keep_promoted=True)
    if not (dtype.is_floating_point or dtype.is_complex):
        TORCH_CHECK(
            False,
            f"mean(): could not infer output dtype. {'Input' if opt_dtype is None else 'Optional'} dtype must be "
            f"either a floating point or complex dtype. Got: {dtype!r}",
        )
    dims = range(a.dim_()) if not dim else maybe_wrap_dims(dim, a.dim_())
    nelem = 1
    for d in dims:
        nelem *= a._sizes[d] if a._sizes else 1
    return convert(binary("div", result, nelem, to_float=True), dtype)


@doors.frame("mean")
def mean(self: Tensor, dtype: ScalarType | None) -> Tensor:
    return _mean(self, None, False, dtype)


@doors.frame("mean")
def mean_dim(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None) -> Tensor:
    return _mean(self, dim, keepdim, dtype)


@doors.frame("mean")
def mean_out(self: Tensor, dim: Sizes | None, keepdim: bool, dtype: ScalarType | None, out: Tensor) -> Tensor:
    return give_out(_mean(self, dim, keepdim, dtype), out)


@doors.frame("mean")
def mean_dtype_out(self: Tensor, dtype: ScalarType | None, out: Tensor) -> Tensor:
    return give_out(_mean(self, None, False, dtype), out)


# ---- views and their backward


@doors.frame("_reshape_alias")
def _unsafe_view(self: Tensor, size: Sizes) -> Tensor:
    return at.view.call(self, size)


@doors.frame("is_same_size")
def is_same_size(self: Tensor, other: Tensor) -> bool:
    return self._sizes == other._sizes


@doors.frame("transpose_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    dim0, dim1 = maybe_wrap_dim(dim0, self.dim_()), maybe_wrap_dim(dim1, self.dim_())
    if dim0 == dim1:
        return self
    size, stride = list(self._sizes), list(self._strides)
    stride[dim0], stride[dim1] = stride[dim1], stride[dim0]
    size[dim0], size[dim1] = size[dim1], size[dim0]
    return at.as_strided_.call(self, tuple(size), tuple(stride), None)


@doors.frame("t_")
def t_(self: Tensor) -> Tensor:
    check_t(self, "t_()")
    return transpose_(self, 0, 0 if self.dim_() < 2 else 1)


@doors.frame("meta_unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    dim = maybe_wrap_dim(dim, self.dim_() + 1)
    sizes, strides = self._sizes, self._strides
    stride = 1 if dim >= self.dim_() else sizes[dim] * strides[dim]
    return at.as_strided_.call(self, (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], stride, *strides[dim:]), None)


@doors.frame("select_backward")
def select_backward(grad_output: Tensor, input_sizes: Sizes, dim: int, index: int) -> Tensor:
    return at.new_zeros.call(grad_output, input_sizes, None, None, None, None)


@doors.frame("slice_backward")
def slice_backward(grad_output: Tensor, input_sizes: Sizes, dim: int, start: int, end: int, step: int) -> Tensor:
    return at.new_zeros.call(grad_output, input_sizes, None, None, None, None)
