"""torch/csrc/utils/tensor_numpy.cpp: tensors and numpy arrays over the same memory.

Differs: nothing is said about ``__cuda_array_interface__``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, make_tensor
from engine.c10 import exception
from engine.c10.device import kCPU
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.layout import Strided
from engine.c10.local_dispatch_key_set import tls
from engine.c10.scalar_type import ScalarType, from_numpy_dtype
from engine.c10.storage import StorageImpl
from engine.torch.csrc.autograd.variable import requires_grad
from engine.torch.csrc.utils.python_numbers import tp_name

__all__ = ["numpy_dtype_to_aten", "tensor_from_numpy", "tensor_to_numpy", "tensor_to_numpy_dtype"]

Array = npt.NDArray[Any]
_CPU_KS = key_bits(DispatchKey.CPU)


def numpy_dtype_to_aten(dtype: np.dtype[Any]) -> ScalarType:
    """The element type of an array; c10::TypeError where PyTorch has none."""
    found = from_numpy_dtype(dtype) if dtype.kind in "biufc" else None
    if found is None:
        raise exception.TypeError(
            f"can't convert np.ndarray of type numpy.{dtype.type.__name__}. The only supported types are: float64, "
            "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and "
            "bool."
        )
    return found


class _Memory:
    """Bytes of a numpy array, from its first element on; keeps the array alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Array, nbytes: int) -> None:
        self.owner = owner
        address = owner.__array_interface__["data"][0]
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}


@doors.frame("torch::utils::tensor_from_numpy", layer="python")
def tensor_from_numpy(obj: Any, warn_if_not_writeable: bool = True) -> Tensor:
    """A tensor over the array's memory."""
    if not isinstance(obj, np.ndarray):
        raise exception.TypeError(f"expected np.ndarray (got {tp_name(obj)})")
    if warn_if_not_writeable and not obj.flags.writeable:
        exception.TORCH_WARN_ONCE(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program."
        )
    step = obj.itemsize
    for stride in obj.strides:
        exception.TORCH_CHECK_VALUE(
            stride >= 0,
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) ",
        )
        exception.TORCH_CHECK_VALUE(
            stride % step == 0,
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory.",
        )
    dtype = numpy_dtype_to_aten(obj.dtype)
    exception.TORCH_CHECK_VALUE(
        obj.dtype.isnative,
        "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
        "currently not supported.",
    )
    nbytes = 0
    if obj.size:
        nbytes = step + sum((n - 1) * stride for n, stride in zip(obj.shape, obj.strides, strict=True))
    buffer = np.asarray(_Memory(obj, nbytes)) if nbytes else np.empty(0, np.uint8)
    storage = StorageImpl(nbytes, kCPU, buffer)
    strides = tuple(stride // step for stride in obj.strides)
    tensor = make_tensor(storage, obj.shape, strides, 0, dtype, kCPU, _CPU_KS)
    return at.lift_fresh.call(tensor)


def tensor_to_numpy_dtype(dtype: ScalarType) -> np.dtype[Any]:
    """The numpy dtype of an element type; c10::TypeError where numpy itself has none."""
    found = dtype.np
    if found is None or found.kind not in "biufc" or from_numpy_dtype(found) is not dtype:
        raise exception.TypeError("Got unsupported ScalarType ", dtype.name)
    return found


@doors.frame("torch::utils::tensor_to_numpy", layer="python")
def tensor_to_numpy(tensor: Tensor, force: bool = False) -> Array:
    """``tensor.numpy()``: an array over the tensor's memory; ``force`` copies where it must."""
    exception.TORCH_CHECK_TYPE(
        tensor._layout is Strided,
        "can't convert ",
        tensor._layout.name,
        " layout tensor to numpy. Use Tensor.to_dense() first.",
    )
    if not force:
        exception.TORCH_CHECK_TYPE(
            tensor._device.type == "cpu",
            "can't convert ",
            tensor._device,
            " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
        )
        exception.TORCH_CHECK(
            not (tls.grad_mode and requires_grad(tensor)),
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        )
    plain = at.detach.call(tensor)
    plain = at.to_dtype_layout.call(plain, None, None, kCPU, None, False, False, None)
    plain = at.resolve_neg.call(at.resolve_conj.call(plain))
    tensor_to_numpy_dtype(plain._dtype)
    return plain.array.view()
