"""aten/src/ATen/native/TypeProperties.cpp: the type of the result of an operation on tensors and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.c10.scalar_type import (
    Bool,
    Scalar,
    ScalarType,
    Undefined,
    get_default_complex_dtype,
    get_default_dtype,
    promoteTypes,
    scalar_dtype_of,
    toComplexType,
)

__all__ = [
    "HasType",
    "ResultTypeState",
    "combine_categories",
    "result_type",
    "result_type_of_state",
    "update_result_type_state",
]


class HasType(Protocol):
    """What a result type is computed from: a tensor."""

    _dtype: ScalarType
    _sizes: tuple[int, ...]
    _wrapped: bool


@dataclass(frozen=True, slots=True)
class ResultTypeState:
    """The widest type seen so far among tensors with dimensions, among numbers, and among 0-dim tensors."""

    dimResult: ScalarType = Undefined
    wrappedResult: ScalarType = Undefined
    zeroResult: ScalarType = Undefined


def _promote_skip_undefined(a: ScalarType, b: ScalarType) -> ScalarType:
    if a is Undefined:
        return b
    return a if b is Undefined else promoteTypes(a, b)


def _of_number(current: ScalarType) -> ScalarType:
    if current.is_complex:
        return get_default_complex_dtype()
    return get_default_dtype() if current.is_floating_point else current


def update_result_type_state(operand: HasType | Scalar | None, state: ResultTypeState) -> ResultTypeState:
    """The state after one more operand: a tensor, a Python number, or None for an undefined tensor."""
    if operand is None:
        return state
    if isinstance(operand, bool | int | float | complex):
        wrapped = _promote_skip_undefined(state.wrappedResult, _of_number(scalar_dtype_of(operand)))
        return ResultTypeState(state.dimResult, wrapped, state.zeroResult)
    current = _of_number(operand._dtype) if operand._wrapped else operand._dtype
    if operand._sizes:
        return ResultTypeState(_promote_skip_undefined(state.dimResult, current), state.wrappedResult, state.zeroResult)
    if operand._wrapped:
        wrapped = _promote_skip_undefined(state.wrappedResult, current)
        return ResultTypeState(state.dimResult, wrapped, state.zeroResult)
    return ResultTypeState(state.dimResult, state.wrappedResult, _promote_skip_undefined(state.zeroResult, current))


def combine_categories(higher: ScalarType, lower: ScalarType) -> ScalarType:
    """``lower`` matters only when it is of a higher category (bool, integral, floating, complex)."""
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return toComplexType(higher) if lower.is_complex else higher
    if higher is Bool or lower.is_floating_point or lower.is_complex:
        return _promote_skip_undefined(higher, lower)
    return lower if higher is Undefined else higher


def result_type(*operands: HasType | Scalar | None) -> ScalarType:
    """The type of the result of an operation on these tensors and numbers."""
    state = ResultTypeState()
    for operand in operands:
        state = update_result_type_state(operand, state)
    return result_type_of_state(state)


def result_type_of_state(state: ResultTypeState) -> ScalarType:
    return combine_categories(state.dimResult, combine_categories(state.zeroResult, state.wrappedResult))
