"""aten/src/ATen/native/TensorProperties.cpp and native/Scalar.cpp: contiguous, is_same_size, item.

Differs: strided tensors only.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.geometry import is_contiguous
from engine.c10.dispatch_key import BackendComponent, DispatchKey, num_backends
from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import MemoryFormat, Preserve

_DENSE = 1 << (num_backends + DispatchKey.Dense - 1)
_DENSE_BACKENDS = sum(
    1 << (BackendComponent[f"{name}Bit"] - 1) for name in ("CPU", "CUDA", "MPS", "HIP", "XPU", "HPU", "MTIA")
)

__all__ = [
    "_has_compatible_shallow_copy_type",
    "_local_scalar_dense_cpu",
    "_local_scalar_dense_meta",
    "contiguous",
    "is_nonzero",
    "is_same_size",
    "item",
]


@doors.frame("at::native::contiguous")
def contiguous(self: Tensor, memory_format: MemoryFormat) -> Tensor:
    if is_contiguous(self, memory_format):
        return self
    TORCH_CHECK(memory_format is not Preserve, "preserve memory format is unsupported by the contiguous operator")
    return at.clone.call(self, memory_format)


@doors.frame("at::native::is_same_size")
def is_same_size(self: Tensor, other: Tensor) -> bool:
    return self._sizes == other._sizes


@doors.frame("at::native::_has_compatible_shallow_copy_type")
def _has_compatible_shallow_copy_type(self: Tensor, from_: Tensor) -> bool:
    """Whether ``self`` can take over the impl of ``from_``: the same keys, or both dense on devices with storage."""

    def is_dense(ks: int) -> bool:
        return bool(ks & _DENSE) and bool(ks & _DENSE_BACKENDS)

    return self._ks == from_._ks or (is_dense(self._ks) and is_dense(from_._ks))


@doors.frame("at::native::item")
def item(self: Tensor) -> Any:
    numel = self.numel_()
    TORCH_CHECK(numel == 1, "a Tensor with ", numel, " elements cannot be converted to Scalar")
    return at._local_scalar_dense.call(self)


@doors.frame("at::native::_local_scalar_dense_cpu")
def _local_scalar_dense_cpu(self: Tensor) -> Any:
    value = self.array.reshape(-1)[0]
    dtype = self._dtype
    if dtype.is_floating_point:
        return float(value)
    return value.item()


@doors.frame("meta_local_scalar_dense")
def _local_scalar_dense_meta(self: Tensor) -> Any:
    TORCH_CHECK(False, "Tensor.item() cannot be called on meta tensors")


@doors.frame("at::native::is_nonzero")
def is_nonzero(self: Tensor) -> bool:
    n = self.numel_()
    TORCH_CHECK(n != 0, "Boolean value of Tensor with no values is ambiguous")
    TORCH_CHECK(n < 2, "Boolean value of Tensor with more than one value is ambiguous")
    return bool(at.item.call(self))
