"""torch/csrc/utils/tensor_new.cpp: torch.tensor, torch.as_tensor, Tensor(...) and Tensor.new.

Differs: no sparse tensors, no storages as data, no DLPack and no buffers (``bytearray`` is a sequence).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.inline import empty as at_empty
from engine.aten.native.tensor_factories import check_unique_names
from engine.c10 import exception
from engine.c10.device import Device, kCPU
from engine.c10.dispatch_key_set import autograd_dispatch_keyset_with_ADInplaceOrView
from engine.c10.local_dispatch_key_set import tls
from engine.c10.scalar_type import (
    Bool,
    ComplexDouble,
    ComplexFloat,
    Double,
    Float,
    Half,
    Long,
    ScalarType,
    get_default_dtype,
    promoteTypes,
)
from engine.torch.csrc.autograd.variable import set_requires_grad
from engine.torch.csrc.utils.device_lazy_init import maybe_initialize_device
from engine.torch.csrc.utils.python_arg_parser import PythonArgs
from engine.torch.csrc.utils.python_args import get_default_device
from engine.torch.csrc.utils.python_numbers import THPUtils_checkLong, tp_name
from engine.torch.csrc.utils.python_scalars import recursive_store
from engine.torch.csrc.utils.tensor_numpy import numpy_dtype_to_aten, tensor_from_numpy

__all__ = [
    "as_tensor",
    "infer_scalar_type",
    "internal_new_from_data",
    "is_sequence",
    "new_tensor",
    "tensor_ctor",
]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

MAX_DIMS = 128


def is_sequence(obj: Any) -> bool:
    """PySequence_Check: indexable by position; neither a dict nor a tensor nor a numpy scalar is."""
    return hasattr(type(obj), "__getitem__") and not isinstance(obj, (dict, Tensor, np.generic, type))


def compute_sizes(seq: Any) -> tuple[int, ...]:
    """The shape of nested sequences, from the first element of each."""
    sizes: list[int] = []
    while is_sequence(seq):
        length = len(seq)
        sizes.append(length)
        exception.TORCH_CHECK_VALUE(len(sizes) <= MAX_DIMS, "too many dimensions '", tp_name(seq), "'")
        if length == 0:
            break
        try:
            seq = seq[0]
        except Exception:
            raise exception.ValueError("could not determine the shape of object type '", tp_name(seq), "'") from None
    return tuple(sizes)


def infer_scalar_type(obj: Any) -> ScalarType:
    """The element type that holds every number in nested sequences; Python floats have the default dtype."""
    if isinstance(obj, (np.ndarray, np.generic)):
        return numpy_dtype_to_aten(obj.dtype)
    if isinstance(obj, float):
        return get_default_dtype()
    if THPUtils_checkLong(obj):
        return Long
    if isinstance(obj, bool):
        return Bool
    if isinstance(obj, complex):
        default = get_default_dtype()
        if default is Double:
            return ComplexDouble
        exception.TORCH_CHECK(default in (Float, Half), "invalid default scalar type for complex")
        return ComplexFloat if default is Float else Half.to_complex()
    if isinstance(obj, Tensor):
        return obj._dtype
    if isinstance(obj, (str, bytes)):
        raise exception.TypeError("new(): invalid data type '", tp_name(obj), "'")
    if is_sequence(obj):
        length = len(obj)
        if length == 0:
            return get_default_dtype()
        found: ScalarType | None = None
        for i in range(length):
            item = obj[i]
            exception.TORCH_CHECK_TYPE(item is not obj, "new(): self-referential lists are incompatible")
            kind = infer_scalar_type(item)
            found = kind if found is None else promoteTypes(found, kind)
            if found is ComplexDouble:
                break
        assert found is not None
        return found
    raise exception.Error("Could not infer dtype of ", tp_name(obj))


@doors.frame(
    "torch::utils::internal_new_from_data",
    layer="python",
    params=("scalar_type", "device_opt", "data", "copy_variables", "copy_numpy", "type_inference", "pin_memory"),
    guard="at::AutoDispatchBelowADInplaceOrView",
)
def internal_new_from_data(
    scalar_type: ScalarType,
    device_opt: Device | None,
    data: Any,
    copy_variables: bool,
    copy_numpy: bool,
    type_inference: bool,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with the values of ``data``: a tensor, an array, a number or nested sequences of numbers."""
    if isinstance(data, (str, bytes)):
        raise exception.TypeError("new(): invalid data type '", tp_name(data), "'")
    if isinstance(data, Tensor):
        exception.TORCH_CHECK(not pin_memory, "Can't pin tensor constructed from a variable")
        var = at.detach.call(data) if copy_variables else data
        device = device_opt if device_opt is not None else var._device
        maybe_initialize_device(device)
        dtype = var._dtype if type_inference else scalar_type
        return at.to_device.call(var, device, dtype, False, copy_variables, None)
    if isinstance(data, np.ndarray):
        exception.TORCH_CHECK(not pin_memory, "Can't pin tensor constructed from numpy")
        shared = tensor_from_numpy(data, warn_if_not_writeable=not copy_numpy)
        device = device_opt if device_opt is not None else get_default_device()
        maybe_initialize_device(device)
        dtype = shared._dtype if type_inference else scalar_type
        return at.to_device.call(shared, device, dtype, False, copy_numpy, None)
    device = device_opt if device_opt is not None else get_default_device()
    sizes = compute_sizes(data)
    dtype = infer_scalar_type(data) if type_inference else scalar_type
    excluded = tls.excluded
    # the values are written below autograd; lift_fresh is where a new constant enters the program
    tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
    try:
        if device.type == "meta":
            return at_empty(sizes, dtype, None, device)
        tensor = at_empty(sizes, dtype, None, kCPU, pin_memory)
        if tensor.numel_():
            recursive_store(tensor, data)
        maybe_initialize_device(device)
        tensor = at.to_device.call(tensor, device, dtype, False, False, None)
        return at.lift_fresh.call(tensor)
    finally:
        tls.excluded = excluded


_COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


@doors.frame("torch::utils::tensor_ctor", layer="python", params=("scalar_type", "r"))
def tensor_ctor(scalar_type: ScalarType, r: PythonArgs) -> Tensor:
    """torch.tensor: always a copy, always a leaf."""
    data = r.pyobject(0)
    if isinstance(data, Tensor):
        exception.TORCH_WARN(_COPY_CONSTRUCT.format("torch.tensor"))
    new = internal_new_from_data(
        r.scalartypeWithDefault(1, scalar_type),
        r.deviceOptional(2),
        data,
        copy_variables=True,
        copy_numpy=True,
        type_inference=r.isNone(1),
        pin_memory=r.toBool(3),
    )
    if len(r.args) > 5:
        names = r.toDimnameListOptional(5)
        if names is not None:
            propagate_names(new, names)
    at.detach_.call(new)
    set_requires_grad(new, r.toBool(4))
    return new


def propagate_names(tensor: Tensor, names: tuple[str | None, ...]) -> None:
    """at::namedinference::propagate_names with validation: a name per dimension, none twice."""
    dim = tensor.dim_()
    exception.TORCH_CHECK(
        len(names) == dim,
        "Number of names (",
        len(names),
        ") and number of dimensions in tensor (",
        dim,
        ") ",
        "do not match. Attempted to create a tensor with names ",
        "[" + ", ".join("None" if name is None else f"'{name}'" for name in names) + "]",
    )
    check_unique_names(names)
    tensor._names = None if all(name is None for name in names) else names


@doors.frame("torch::utils::as_tensor", layer="python", params=("scalar_type", "r"))
def as_tensor(scalar_type: ScalarType, r: PythonArgs) -> Tensor:
    """torch.as_tensor: shares memory with tensors and arrays of the right type."""
    return internal_new_from_data(
        r.scalartypeWithDefault(1, scalar_type),
        r.deviceOptional(2),
        r.pyobject(0),
        copy_variables=False,
        copy_numpy=False,
        type_inference=r.isNone(1),
    )


@doors.frame("torch::utils::new_tensor", layer="python", params=("self", "r"))
def new_tensor(self: Tensor, r: PythonArgs) -> Tensor:
    """Tensor.new_tensor: as torch.tensor, with the type and device of ``self``."""
    data = r.pyobject(0)
    if isinstance(data, Tensor):
        exception.TORCH_WARN(_COPY_CONSTRUCT.format("tensor.new_tensor"))
    device = r.deviceOptional(2)
    new = internal_new_from_data(
        r.scalartypeWithDefault(1, self._dtype),
        self._device if device is None else device,
        data,
        copy_variables=True,
        copy_numpy=True,
        type_inference=False,
    )
    at.detach_.call(new)
    set_requires_grad(new, r.toBool(3))
    return new


def legacy_new_from_sequence(scalar_type: ScalarType, device: Device | None, data: Any) -> Tensor:
    exception.TORCH_CHECK_TYPE(is_sequence(data), "new(): data must be a sequence (got ", tp_name(data), ")")
    return internal_new_from_data(
        scalar_type, device, data, copy_variables=False, copy_numpy=False, type_inference=False
    )
