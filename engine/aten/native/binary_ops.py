"""aten/src/ATen/native/BinaryOps.cpp and cpu/BinaryOpsKernel.cpp: add, sub, mul, div and rsub.

Differs: ``meta`` and ``impl`` are functions that take the structured kernel, not methods of a class per operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, wrapped_scalar_tensor
from engine.aten.native.structured import Functional, Inplace, Out, StructuredKernel
from engine.aten.native.type_cast import checked_convert
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_NOT_IMPLEMENTED
from engine.c10.scalar_type import (
    Bool,
    Double,
    Float,
    ScalarType,
    isBarebonesUnsignedType,
    isFloat8Type,
)

__all__ = [
    "add_Scalar",
    "add_Tensor",
    "add__Scalar",
    "add__Tensor",
    "add_impl",
    "add_kernel",
    "add_meta",
    "add_out",
    "alpha_check",
    "div_Scalar",
    "div_Tensor",
    "div__Scalar",
    "div__Tensor",
    "div_impl",
    "div_meta",
    "div_out",
    "div_true_kernel",
    "mul_Scalar",
    "mul_Tensor",
    "mul__Scalar",
    "mul__Tensor",
    "mul_impl",
    "mul_kernel",
    "mul_meta",
    "mul_out",
    "rsub_Scalar",
    "rsub_Tensor",
    "sub_Scalar",
    "sub_Tensor",
    "sub__Scalar",
    "sub__Tensor",
    "sub_check",
    "sub_impl",
    "sub_meta",
    "sub_out",
]

Array = npt.NDArray[Any]
Scalar = bool | int | float | complex


# ---- checks


def alpha_check(dtype: ScalarType, alpha: Scalar) -> None:
    """``alpha`` may not be of a higher category than the operands."""
    TORCH_CHECK(not isinstance(alpha, bool) or dtype is Bool, "Boolean alpha only supported for Boolean results.")
    TORCH_CHECK(
        dtype.is_floating_point or dtype.is_complex or isinstance(alpha, int),
        "For integral input tensors, argument alpha must not be a floating point number.",
    )
    TORCH_CHECK(
        dtype.is_complex or not isinstance(alpha, complex),
        "For non-complex input tensors, argument alpha must not be a complex number.",
    )


def sub_check(self: Tensor | Scalar, other: Tensor | Scalar) -> None:
    def is_bool(x: Tensor | Scalar) -> bool:
        return x._dtype is Bool if isinstance(x, Tensor) else isinstance(x, bool)

    TORCH_CHECK(
        not (is_bool(self) and is_bool(other)),
        "Subtraction, the `-` operator, with two bool tensors is not supported. "
        "Use the `^` or `logical_xor()` operator instead.",
    )
    TORCH_CHECK(
        not (is_bool(self) or is_bool(other)),
        "Subtraction, the `-` operator, with a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
    )


def _not_implemented(name: str, dtype: ScalarType) -> None:
    """What AT_DISPATCH says of a type that a kernel is not compiled for."""
    TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"{name}\" not implemented for '{dtype.name}'")


# ---- kernels: numpy on the operands of a built iterator


def _compute(op: StructuredKernel, fn: Callable[[Array, Array], Array]) -> None:
    with np.errstate(all="ignore"):
        op.output().array[...] = fn(op.input(0).array, op.input(1).array)
    op.cast_outputs()


@doors.frame("at::native::add_kernel", params=("op", "alpha"))
def add_kernel(op: StructuredKernel, alpha: Scalar) -> None:
    dtype = op.common_dtype
    if isBarebonesUnsignedType(dtype) or isFloat8Type(dtype):
        _not_implemented("add_stub", dtype)
    if alpha == 1 and dtype is not Bool:
        _compute(op, np.add)
    else:
        _compute(op, lambda a, b: _add_scaled(op, a, b, alpha))


@doors.frame("at::native::mul_kernel", params=("op",))
def mul_kernel(op: StructuredKernel) -> None:
    _compute(op, np.multiply)


@doors.frame("at::native::div_true_kernel", params=("op",))
def div_true_kernel(op: StructuredKernel) -> None:
    if isFloat8Type(op.common_dtype):
        _not_implemented("div_cpu", op.common_dtype)
    _compute(op, np.true_divide)


def _add_scaled(op: StructuredKernel, a: Array, b: Array, alpha: Scalar) -> Array:
    """``a + alpha * b``, with one rounding where the compiled kernel has a fused multiply-add."""
    dtype = op.common_dtype
    scale = checked_convert(alpha, dtype)
    if dtype is Bool:
        return a | (b & scale)
    if not dtype.is_floating_point:
        return np.add(a, np.multiply(b, scale))
    if dtype is Double:
        return _fma(a, scale, b)
    fused = (a.astype(np.float64) + float(checked_convert(alpha, Float)) * b.astype(np.float64)).astype(np.float32)
    if dtype is Float:
        return fused
    # the 16 bit types: vector registers compute in float, what does not fill a pair of them rounds twice
    plain = np.add(a, np.multiply(b, scale))
    whole = _vectorized(op, 2 * 32 // dtype.itemsize)
    return np.where(whole, fused.astype(a.dtype), plain)


def _vectorized(op: StructuredKernel, block: int) -> Array:
    """Which elements the vectorized loop computes: all of a contiguous row but what is left after the last block."""
    operands = [t for t in (op.output(), op.input(0), op.input(1)) if t._sizes]
    shape = op.shape
    if all(t._sizes == shape and t.is_contiguous_() for t in operands):
        n = op.output().numel_()
        return (np.arange(n) < n - n % block).reshape(shape)
    if shape and all(t._sizes and t._strides[-1] == 1 for t in operands):
        n = shape[-1]
        return np.arange(n) < n - n % block
    return np.zeros(1, bool)


def _fma(a: Array, x: Any, b: Array) -> Array:
    """``a + x * b`` in double, rounded once: the errors of the product and of the sum are added at the end."""
    product = x * b
    sx, sb = _split(x), _split(b)
    error = ((sx[0] * sb[0] - product) + sx[0] * sb[1] + sx[1] * sb[0]) + sx[1] * sb[1]
    total = a + product
    part = total - a
    rest = (a - (total - part)) + (product - part)
    fused = total + (rest + error)
    return np.where(np.isfinite(fused), fused, total)


def _split(x: Any) -> tuple[Any, Any]:
    """High and low half of the digits of a double."""
    c = 134217729.0 * x
    high = c - (c - x)
    return high, x - high


# ---- structured kernels


@doors.frame("at::meta::structured_add_Tensor::meta")
def add_meta(op: StructuredKernel, self: Tensor, other: Tensor, alpha: Scalar) -> None:
    op.build_borrowing_binary_op(op.maybe_get_output(), self, other)
    alpha_check(op.common_dtype, alpha)


@doors.frame("at::native::structured_ufunc_add_CPU::impl")
def add_impl(op: StructuredKernel, self: Tensor, other: Tensor, alpha: Scalar) -> None:
    if not op.is_meta:
        add_kernel(op, alpha)


@doors.frame("at::meta::structured_sub_Tensor::meta")
def sub_meta(op: StructuredKernel, self: Tensor, other: Tensor, alpha: Scalar) -> None:
    sub_check(self, other)
    op.build_borrowing_binary_op(op.maybe_get_output(), self, other)
    alpha_check(op.common_dtype, alpha)


@doors.frame("at::native::structured_sub_out::impl")
def sub_impl(op: StructuredKernel, self: Tensor, other: Tensor, alpha: Scalar) -> None:
    if not op.is_meta:
        add_kernel(op, -alpha)


@doors.frame("at::meta::structured_mul_Tensor::meta")
def mul_meta(op: StructuredKernel, self: Tensor, other: Tensor) -> None:
    op.build_borrowing_binary_op(op.maybe_get_output(), self, other)


@doors.frame("at::native::structured_mul_out::impl")
def mul_impl(op: StructuredKernel, self: Tensor, other: Tensor) -> None:
    if not op.is_meta:
        mul_kernel(op)


@doors.frame("at::meta::structured_div_Tensor::meta")
def div_meta(op: StructuredKernel, self: Tensor, other: Tensor) -> None:
    op.build_borrowing_binary_float_op(op.maybe_get_output(), self, other)


@doors.frame("at::native::structured_div_out::impl")
def div_impl(op: StructuredKernel, self: Tensor, other: Tensor) -> None:
    if not op.is_meta:
        div_true_kernel(op)


def _result(op: StructuredKernel) -> Tensor:
    assert op.out is not None
    return op.out


def _run_add(op: StructuredKernel, self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    add_meta(op, self, other, alpha)
    add_impl(op, self, other, alpha)
    return _result(op)


def _run_sub(op: StructuredKernel, self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    sub_meta(op, self, other, alpha)
    sub_impl(op, self, other, alpha)
    return _result(op)


def _run_mul(op: StructuredKernel, self: Tensor, other: Tensor) -> Tensor:
    mul_meta(op, self, other)
    mul_impl(op, self, other)
    return _result(op)


def _run_div(op: StructuredKernel, self: Tensor, other: Tensor) -> Tensor:
    div_meta(op, self, other)
    div_impl(op, self, other)
    return _result(op)


# ---- the three forms of each, as RegisterCPU and RegisterMeta register them


def add_Tensor(self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    return _run_add(Functional(), self, other, alpha)


def add__Tensor(self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    return _run_add(Inplace(self), self, other, alpha)


def add_out(self: Tensor, other: Tensor, alpha: Scalar, out: Tensor) -> Tensor:
    return _run_add(Out(out), self, other, alpha)


def sub_Tensor(self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    return _run_sub(Functional(), self, other, alpha)


def sub__Tensor(self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    return _run_sub(Inplace(self), self, other, alpha)


def sub_out(self: Tensor, other: Tensor, alpha: Scalar, out: Tensor) -> Tensor:
    return _run_sub(Out(out), self, other, alpha)


def mul_Tensor(self: Tensor, other: Tensor) -> Tensor:
    return _run_mul(Functional(), self, other)


def mul__Tensor(self: Tensor, other: Tensor) -> Tensor:
    return _run_mul(Inplace(self), self, other)


def mul_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    return _run_mul(Out(out), self, other)


def div_Tensor(self: Tensor, other: Tensor) -> Tensor:
    return _run_div(Functional(), self, other)


def div__Tensor(self: Tensor, other: Tensor) -> Tensor:
    return _run_div(Inplace(self), self, other)


def div_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    return _run_div(Out(out), self, other)


# ---- numbers: wrapped in a 0-dim tensor, then the Tensor form


@doors.frame("at::native::add")
def add_Scalar(self: Tensor, other: Scalar, alpha: Scalar) -> Tensor:
    return at.add_Tensor.call(self, wrapped_scalar_tensor(other), alpha)


@doors.frame("at::native::add_")
def add__Scalar(self: Tensor, other: Scalar, alpha: Scalar) -> Tensor:
    return at.add__Tensor.call(self, wrapped_scalar_tensor(other), alpha)


@doors.frame("at::native::sub")
def sub_Scalar(self: Tensor, other: Scalar, alpha: Scalar) -> Tensor:
    return at.sub_Tensor.call(self, wrapped_scalar_tensor(other), alpha)


@doors.frame("at::native::sub_")
def sub__Scalar(self: Tensor, other: Scalar, alpha: Scalar) -> Tensor:
    return at.sub__Tensor.call(self, wrapped_scalar_tensor(other), alpha)


@doors.frame("at::native::mul")
def mul_Scalar(self: Tensor, other: Scalar) -> Tensor:
    return at.mul_Tensor.call(self, wrapped_scalar_tensor(other))


@doors.frame("at::native::mul_")
def mul__Scalar(self: Tensor, other: Scalar) -> Tensor:
    # through the out form, not through mul_.Tensor
    return at.mul_out.call(self, wrapped_scalar_tensor(other), self)


@doors.frame("at::native::div")
def div_Scalar(self: Tensor, other: Scalar) -> Tensor:
    return at.div_Tensor.call(self, wrapped_scalar_tensor(other))


@doors.frame("at::native::div_")
def div__Scalar(self: Tensor, other: Scalar) -> Tensor:
    return at.div__Tensor.call(self, wrapped_scalar_tensor(other))


@doors.frame("at::native::rsub")
def rsub_Tensor(self: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    return at.sub_Tensor.call(other, self, alpha)


@doors.frame("at::native::rsub")
def rsub_Scalar(self: Tensor, other: Scalar, alpha: Scalar) -> Tensor:
    return rsub_Tensor(self, wrapped_scalar_tensor(other), alpha)
