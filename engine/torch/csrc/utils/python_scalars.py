"""torch/csrc/utils/python_scalars.h: Python numbers into the memory of a tensor."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from engine.aten.core.tensor import Tensor
from engine.aten.native.type_cast import checked_convert
from engine.c10 import exception
from engine.c10.scalar_type import Bool, Double, Float, Long, ScalarType, UInt64
from engine.torch.csrc.utils.python_numbers import THPUtils_unpackLong, tp_name

__all__ = ["recursive_store", "store_scalar"]


def _as_double(obj: Any) -> float:
    """PyFloat_AsDouble."""
    if isinstance(obj, (str, bytes, complex)) or not (hasattr(obj, "__float__") or hasattr(obj, "__index__")):
        raise TypeError(f"must be real number, not {tp_name(obj)}")
    return float(obj)


def _as_complex(obj: Any) -> complex:
    """PyComplex_AsCComplex."""
    if isinstance(obj, complex):
        return complex(obj)
    if hasattr(obj, "__complex__"):
        return complex(obj)
    return complex(_as_double(obj))


def _as_bool(obj: Any) -> bool:
    """THPUtils_unpackNumberAsBool."""
    if isinstance(obj, (float, complex, np.bool_)):
        return bool(obj)
    return operator.index(obj) != 0


def _unpack_integral(obj: Any, dtype: ScalarType) -> Any:
    """An integer, or a float cut off, checked against the type's range."""
    value = float(obj) if isinstance(obj, float) else THPUtils_unpackLong(obj)
    try:
        return checked_convert(value, dtype)
    except exception.Error:
        raise exception.Error("value cannot be converted to type ", dtype.torch_name, " without overflow") from None


def store_scalar(obj: Any, dtype: ScalarType) -> Any:
    """The element of ``dtype`` that a Python object becomes."""
    if dtype is Bool:
        return _as_bool(obj)
    if dtype.is_complex:
        return _as_complex(obj)
    if dtype.is_floating_point:
        return _as_double(obj)
    if dtype is UInt64:
        value = operator.index(obj)
        if value < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if value >= 1 << 64:
            raise OverflowError("int too big to convert")
        return value
    return _unpack_integral(obj, dtype)


def _flatten(obj: Any, sizes: tuple[int, ...], dim: int, into: list[Any]) -> None:
    if dim == len(sizes):
        into.append(obj)
        return
    try:
        items = obj if isinstance(obj, (list, tuple)) else list(obj)
    except TypeError:
        raise TypeError("not a sequence") from None
    n = sizes[dim]
    exception.TORCH_CHECK_VALUE(
        len(items) == n, "expected sequence of length ", n, " at dim ", dim, " (got ", len(items), ")"
    )
    for item in items:
        if isinstance(item, np.ndarray):
            exception.TORCH_WARN_ONCE(
                "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the "
                "list to a single numpy.ndarray with numpy.array() before converting to a tensor."
            )
        _flatten(item, sizes, dim + 1, into)


def recursive_store(tensor: Tensor, data: Any) -> None:
    """Fill a new, contiguous tensor with the numbers of nested sequences of its shape."""
    flat: list[Any] = []
    _flatten(data, tensor._sizes, 0, flat)
    dtype = tensor._dtype
    memory = tensor.array.reshape(-1)
    kinds = set(map(type, flat))
    plain = (kinds <= {float, int} and dtype in (Float, Double)) or (kinds <= {int} and dtype is Long)
    with np.errstate(all="ignore"):
        if plain:
            try:
                memory[:] = flat
                return
            except OverflowError:
                pass  # found again below, with PyTorch's error
        values = [store_scalar(item, dtype) for item in flat]
        if dtype.is_floating_point and dtype.itemsize < 4:
            memory[:] = np.array(values, np.float32).astype(memory.dtype)
        else:
            memory[:] = np.array(values, memory.dtype)
