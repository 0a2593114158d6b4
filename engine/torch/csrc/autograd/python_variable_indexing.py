"""torch/csrc/autograd/python_variable_indexing.cpp and ATen/TensorIndexing.h: ``x[...]`` and ``x[...] = value``.

Integers, slices, None, Ellipsis and 0-dim tensors become select, slice, unsqueeze and alias.

Differs: indexing by tensors, lists and booleans needs aten::index and aten::index_put_.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, empty_tensor
from engine.aten.native.type_cast import checked_convert
from engine.c10 import exception
from engine.c10.device import kCPU
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import autograd_dispatch_keyset_with_ADInplaceOrView, key_bits
from engine.c10.local_dispatch_key_set import tls
from engine.c10.scalar_type import Bool, Byte, Long, isIntegralType
from engine.torch.csrc.utils.python_numbers import THPUtils_checkLong, THPUtils_unpackLong, tp_name
from engine.torch.csrc.utils.python_torch_function import (
    append_overloaded_arg,
    check_has_torch_function,
    handle_torch_function_no_python_arg_parser,
)
from engine.torch.csrc.utils.tensor_new import infer_scalar_type, internal_new_from_data, is_sequence
from engine.torch.csrc.utils.tensor_types import options_to_string
from engine.torch.csrc.utils.unmodelled import operator as operator_or_error

__all__ = ["THPVariable_getitem", "THPVariable_setitem"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

INDEX_MAX = (1 << 63) - 1
_CPU_KS = key_bits(DispatchKey.CPU)


class Slice:
    """at::indexing::Slice with its bounds filled in, as PySlice_Unpack does."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, index: slice) -> None:
        step = 1 if index.step is None else _slice_index(index.step)
        if step == 0:
            raise ValueError("slice step cannot be zero")
        self.step = step
        self.start = (INDEX_MAX if step < 0 else 0) if index.start is None else _slice_index(index.start)
        self.stop = (-INDEX_MAX - 1 if step < 0 else INDEX_MAX) if index.stop is None else _slice_index(index.stop)


def _slice_index(value: Any) -> int:
    if not hasattr(type(value), "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return max(-INDEX_MAX - 1, min(INDEX_MAX, operator.index(value)))


def _specified_dimensions(index: tuple[Any, ...]) -> int | None:
    """How many dimensions the index names: all but Ellipsis, None and booleans; None when an override decides."""
    count = 0
    for obj in index:
        if check_has_torch_function(obj):
            return None
        if isinstance(obj, Tensor):
            count += len(obj._sizes) if obj._dtype in (Byte, Bool) else 1
            continue
        if isinstance(obj, (tuple, list)) and any(check_has_torch_function(item, ignore_mode=True) for item in obj):
            return None
        if obj is not None and obj is not Ellipsis and obj is not True and obj is not False:
            count += 1
    return count


@doors.frame("at::indexing::impl::applySelect", layer="at", params=("self", "dim", "index", "real_dim"))
def applySelect(self: Tensor, dim: int, index: int, real_dim: int) -> Tensor:
    sizes = self._sizes
    exception.TORCH_CHECK_INDEX(
        not (index == 0 and dim == 0 and not sizes),
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim tensor to a number",
    )
    size = sizes[dim] if dim < len(sizes) else 0
    exception.TORCH_CHECK_INDEX(
        size > -1 - index and size > index,
        "index ",
        index,
        " is out of bounds for dimension ",
        real_dim,
        " with size ",
        size,
    )
    return cast(Tensor, at.select_int.call(self, dim, index))


@doors.frame(
    "at::indexing::impl::applySlice", layer="at", params=("self", "dim", "index", "disable_slice_optimization")
)
def applySlice(self: Tensor, dim: int, index: Slice, disable_slice_optimization: bool) -> Tensor:
    exception.TORCH_CHECK_VALUE(index.step > 0, "step must be greater than zero")
    whole = self._sizes and index.start == 0 and index.step == 1 and self._sizes[dim] <= index.stop
    if whole and not disable_slice_optimization:
        return self
    op = operator_or_error("slice_Tensor", "indexing with a slice")
    return cast(Tensor, op.call(self, dim, index.start, index.stop, index.step))


def _bool_to_indexing_tensor(self: Tensor, value: bool) -> Tensor:
    """A boolean adds a dimension of size 1; True takes its only index, False none."""
    indices = at.empty_memory_format.call((int(value),), Long, None, self._device, None, None)
    return cast(Tensor, at.fill__Scalar.call(indices, 0.0)) if value else cast(Tensor, indices)


class _Walk:
    """The state of applySlicing: the dimension reached, and the tensors for advanced indexing."""

    __slots__ = ("dim", "indices", "original", "specified")

    def __init__(self, original: Tensor, specified: int) -> None:
        self.original = original
        self.specified = specified
        self.dim = 0
        self.indices: list[Tensor | None] = []

    def passed(self, dims: int = 1) -> None:
        self.dim += dims
        if self.indices:
            self.indices += [None] * dims

    def record(self, tensor: Tensor) -> None:
        self.indices = [*self.indices, tensor] if self.indices else [*[None] * self.dim, tensor]
        self.dim += len(tensor._sizes) if tensor._dtype in (Byte, Bool) else 1


@doors.frame(
    "at::indexing::handleDimInMultiDimIndexing",
    layer="at",
    params=("prev_dim_result", "index", "walk", "real_dim"),
)
def handleDimInMultiDimIndexing(result: Tensor, index: Any, walk: _Walk, real_dim: int) -> Tensor:
    if type(index) is int:
        return applySelect(result, walk.dim, index, real_dim)
    if isinstance(index, Slice):
        result = applySlice(result, walk.dim, index, False)
        walk.passed()
        return result
    if index is Ellipsis:
        walk.passed(len(walk.original._sizes) - walk.specified)
        return result
    if index is None:
        result = at.unsqueeze.call(result, walk.dim)
        walk.passed()
        return result
    if isinstance(index, bool):
        result = at.unsqueeze.call(result, walk.dim)
        walk.record(_bool_to_indexing_tensor(result, index))
        return result
    if not index._sizes and isIntegralType(index._dtype, True):
        value = at.item.call(index)
        if index._dtype not in (Byte, Bool):
            return applySelect(result, walk.dim, value, real_dim)
        result = at.unsqueeze.call(result, walk.dim)
        walk.record(_bool_to_indexing_tensor(result, bool(value)))
        return result
    walk.record(index)
    return result


def _tensor_index(obj: Any) -> Any:
    """at::indexing::TensorIndex of a Python object: int, Slice, Ellipsis, None, bool or a tensor."""
    if THPUtils_checkLong(obj):
        return THPUtils_unpackLong(obj)
    if isinstance(obj, slice):
        return Slice(obj)
    if obj is Ellipsis or obj is None or isinstance(obj, (bool, Tensor)):
        return obj
    if is_sequence(obj):
        kind = infer_scalar_type(obj)
        dtype = kind if kind in (Byte, Bool) else Long
        return internal_new_from_data(dtype, None, obj, copy_variables=False, copy_numpy=False, type_inference=False)
    try:
        return THPUtils_unpackLong(operator.index(obj))
    except TypeError:
        raise exception.IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
            tp_name(obj),
            ")",
        ) from None


@doors.frame("torch::autograd::applySlicing", layer="python", params=("self", "index", "walk"))
def applySlicing(self: Tensor, index: tuple[Any, ...], walk: _Walk) -> Tensor:
    exception.TORCH_CHECK_INDEX(
        walk.specified <= len(self._sizes), "too many indices for tensor of dimension ", len(self._sizes)
    )
    result = self
    for i, obj in enumerate(index):
        result = handleDimInMultiDimIndexing(result, _tensor_index(obj), walk, i)
    return result


def _wrap_tuple(index: Any) -> tuple[Any, ...]:
    """wrapTuple: a short list that holds more than numbers is a tuple, with a warning."""
    if isinstance(index, tuple):
        return tuple(index)
    if isinstance(index, (Tensor, np.ndarray)) or not is_sequence(index) or len(index) >= 32:
        return (index,)
    for item in index:
        if item is Ellipsis or item is None or isinstance(item, (Tensor, slice)) or is_sequence(item):
            exception.TORCH_WARN(
                "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
                "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
                "x[torch.tensor(seq)], which will result either in an error or a different result"
            )
            return tuple(index)
    return (index,)


@doors.frame("at::indexing::get_item", layer="at", params=("self", "index"))
def get_item(self: Tensor, index: Any) -> Tensor:
    """Indexing with one thing that is no tensor."""
    if type(index) is int:
        return applySelect(self, 0, index, 0)
    if isinstance(index, Slice):
        return applySlice(self, 0, index, True)
    if index is None:
        return cast(Tensor, at.unsqueeze.call(self, 0))
    if index is Ellipsis:
        return cast(Tensor, operator_or_error("alias", "x[...]").call(self))
    result = at.unsqueeze.call(self, 0)
    return dispatch_index(result, [_bool_to_indexing_tensor(result, index)])


def dispatch_index(self: Tensor, indices: list[Tensor | None]) -> Tensor:
    """Advanced indexing; dimensions without an index tensor at the end are left out."""
    op = operator_or_error("index_Tensor", "indexing with a tensor, a list or a boolean")
    return cast(Tensor, op.call(self, _without_trailing(indices)))


def _without_trailing(indices: list[Tensor | None]) -> list[Tensor | None]:
    while indices and indices[-1] is None:
        indices = indices[:-1]
    return indices


def _handle_torch_function_indexing(self: Any, index: Any, *value: Any) -> Any:
    overloaded: list[Any] = []
    for obj in (self, *(index if isinstance(index, tuple) else (index,)), *value):
        for item in (obj, *(obj if isinstance(obj, (tuple, list)) else ())):
            if check_has_torch_function(item, ignore_mode=True):
                append_overloaded_arg(overloaded, item)
    name = "__setitem__" if value else "__getitem__"
    function = getattr(Tensor, name)
    return handle_torch_function_no_python_arg_parser(
        overloaded, (self, index, *value), None, name, function, "torch.Tensor"
    )


def _simple(index: Any) -> bool:
    return index is None or index is Ellipsis or isinstance(index, (slice, bool)) or THPUtils_checkLong(index)


def THPVariable_getitem(self: Tensor, index: Any) -> Any:
    if check_has_torch_function(self):
        return _handle_torch_function_indexing(self, index)
    if _simple(index):
        return get_item(self, _tensor_index(index))
    holder = _wrap_tuple(index)
    specified = _specified_dimensions(holder)
    if specified is None:
        return _handle_torch_function_indexing(self, index)
    walk = _Walk(self, specified)
    sliced = applySlicing(self, holder, walk)
    if walk.indices:
        return dispatch_index(sliced, walk.indices)
    if sliced is self:
        return operator_or_error("alias", "indexing that takes all of a tensor").call(self)
    return sliced


# -- x[...] = value


@doors.frame("torch::autograd::valueToTensor", layer="python", params=("self", "value"))
def valueToTensor(self: Tensor, value: Any) -> Tensor:
    """The assigned value: a number becomes a 0-dim tensor of ``self``'s type."""
    if isinstance(value, Tensor):
        return value
    if THPUtils_checkLong(value) or isinstance(value, bool):
        scalar: Any = THPUtils_unpackLong(value)
    elif isinstance(value, (float, complex)):
        scalar = complex(value) if isinstance(value, complex) else float(value)
    else:
        raise exception.TypeError("can't assign a ", tp_name(value), " to a ", options_to_string(self))
    excluded = tls.excluded
    tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
    try:
        if self._device != kCPU:
            op = operator_or_error("scalar_tensor", "assigning a number to a tensor that is not on the CPU")
            return cast(Tensor, op.call(scalar, self._dtype, self._layout, self._device, None))
        # at::detail::scalar_tensor_static: made and filled without dispatch
        tensor = empty_tensor((), (), self._dtype, kCPU, _CPU_KS)
        tensor.array[...] = checked_convert(scalar, self._dtype)
        return cast(Tensor, at.lift_fresh.call(tensor))
    finally:
        tls.excluded = excluded


@doors.frame("at::indexing::copy_to", layer="at", params=("dst", "src"))
def copy_to(dst: Tensor, src: Tensor) -> None:
    if dst._sizes == src._sizes:
        at.copy_.call(dst, src, False)
    elif not src._sizes and src._device.type == "cpu":
        at.fill__Tensor.call(dst, src)
    else:
        sizes = src._sizes
        while sizes and sizes[0] == 1:
            sizes = sizes[1:]
        shown = at.view.call(src, sizes)
        at.copy_.call(dst, shown if sizes == dst._sizes else at.expand.call(shown, dst._sizes, False), False)


@doors.frame("at::indexing::set_item", layer="at", params=("self", "index", "value"))
def set_item(self: Tensor, index: Any, value: Tensor) -> None:
    if type(index) is int:
        copy_to(applySelect(self, 0, index, 0), value)
    elif isinstance(index, Slice):
        copy_to(applySlice(self, 0, index, False), value)
    elif index is Ellipsis:
        copy_to(self, value)
    elif index is not False:
        copy_to(at.unsqueeze.call(self, 0), value)


@doors.frame("torch::autograd::dispatch_set_item", layer="python", params=("self", "index", "value"))
def dispatch_set_item(self: Tensor, index: Any, value: Tensor) -> None:
    set_item(self, index, value)


def THPVariable_setitem(self: Tensor, index: Any, py_value: Any) -> None:
    if check_has_torch_function(self) or check_has_torch_function(py_value):
        _handle_torch_function_indexing(self, index, py_value)
        return
    value = valueToTensor(self, py_value)
    if index is False:
        return
    if _simple(index):
        dispatch_set_item(self, _tensor_index(index), value)
        return
    holder = _wrap_tuple(index)
    specified = _specified_dimensions(holder)
    if specified is None:
        _handle_torch_function_indexing(self, index, py_value)
        return
    walk = _Walk(self, specified)
    sliced = applySlicing(self, holder, walk)
    if not walk.indices:
        copy_to(sliced, value)
        return
    op: Callable[..., Any] = operator_or_error("index_put_", "assigning through a tensor, a list or a boolean").call
    op(sliced, _without_trailing(walk.indices), value, False)
