"""aten/src/ATen/native/UnaryOps.cpp: neg, reciprocal, positive.

Differs: ``meta`` and ``impl`` are functions that take the structured kernel, not methods of a class per operator.
"""

from __future__ import annotations

import numpy as np

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.aten.native.structured import Functional, Inplace, Out, StructuredKernel
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_NOT_IMPLEMENTED
from engine.c10.scalar_type import Bool, isBarebonesUnsignedType, isFloat8Type

__all__ = ["neg", "neg_", "neg_meta", "neg_out", "positive", "reciprocal", "reciprocal_", "reciprocal_out"]


@doors.frame("at::meta::structured_neg::meta")
def neg_meta(op: StructuredKernel, self: Tensor) -> None:
    TORCH_CHECK(
        self._dtype is not Bool,
        "Negation, the `-` operator, on a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
    )
    op.build_borrowing_unary_op(op.maybe_get_output(), self)


@doors.frame("at::native::structured_neg_out::impl")
def neg_impl(op: StructuredKernel, self: Tensor) -> None:
    if op.is_meta:
        return
    dtype = op.input()._dtype
    if isBarebonesUnsignedType(dtype) or isFloat8Type(dtype):
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"neg_cpu\" not implemented for '{dtype.name}'")
    with np.errstate(all="ignore"):
        np.negative(op.input().array, out=op.output().array)


def _run(op: StructuredKernel, self: Tensor) -> Tensor:
    neg_meta(op, self)
    neg_impl(op, self)
    assert op.out is not None
    return op.out


def neg(self: Tensor) -> Tensor:
    return _run(Functional(), self)


def neg_(self: Tensor) -> Tensor:
    return _run(Inplace(self), self)


def neg_out(self: Tensor, out: Tensor) -> Tensor:
    return _run(Out(out), self)


@doors.frame("at::meta::structured_reciprocal::meta")
def reciprocal_meta(op: StructuredKernel, self: Tensor) -> None:
    op.build_borrowing_unary_float_op(op.maybe_get_output(), self)


@doors.frame("at::native::structured_reciprocal_out::impl")
def reciprocal_impl(op: StructuredKernel, self: Tensor) -> None:
    if op.is_meta:
        return
    dtype = op.common_dtype
    if isFloat8Type(dtype):
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"reciprocal_cpu\" not implemented for '{dtype.name}'")
    a = op.input().array
    with np.errstate(all="ignore"):
        op.output().array[...] = np.true_divide(np.ones((), a.dtype), a)
    op.cast_outputs()


def _run_reciprocal(op: StructuredKernel, self: Tensor) -> Tensor:
    reciprocal_meta(op, self)
    reciprocal_impl(op, self)
    assert op.out is not None
    return op.out


def reciprocal(self: Tensor) -> Tensor:
    return _run_reciprocal(Functional(), self)


def reciprocal_(self: Tensor) -> Tensor:
    return _run_reciprocal(Inplace(self), self)


def reciprocal_out(self: Tensor, out: Tensor) -> Tensor:
    return _run_reciprocal(Out(out), self)


@doors.frame("at::native::positive")
def positive(self: Tensor) -> Tensor:
    TORCH_CHECK(self._dtype is not Bool, "The `+` operator, on a bool tensor is not supported.")
    return self
