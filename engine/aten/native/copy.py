"""aten/src/ATen/native/Copy.cpp and cpu/CopyKernel.cpp: copying between tensors, with broadcast and conversion.

Differs: no other device than CPU and Meta.
"""

from __future__ import annotations

import numpy as np

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.aten.native.expand_utils import infer_size
from engine.aten.native.memory_overlap import assert_no_internal_overlap, assert_no_partial_overlap
from engine.aten.native.type_cast import convert
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_NOT_IMPLEMENTED, TORCH_WARN_ONCE

__all__ = ["copy_"]

_CONJUGATE = key_bits(DispatchKey.Conjugate)
_NEGATIVE = key_bits(DispatchKey.Negative)


@doors.frame("at::native::copy_impl")
def copy_impl(self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    # a Meta tensor takes any source and stays as it is
    if self._device.type == "meta":
        shape = infer_size(self._sizes, src._sizes)
        TORCH_CHECK(
            self._sizes == shape, "output with shape ", self._sizes, " doesn't match the broadcast shape ", shape
        )
        return self
    TORCH_CHECK_NOT_IMPLEMENTED(src._device.type != "meta", "Cannot copy out of meta tensor; no data!")
    if (
        self._storage is src._storage
        and self._dtype is src._dtype
        and self._sizes == src._sizes
        and self._strides == src._strides
        and self._offset == src._offset
    ):
        return self
    # what TensorIterator checks before a copy: overlap, then shapes
    assert_no_internal_overlap(self)
    assert_no_partial_overlap(self, src)
    if self._sizes != src._sizes:
        shape = infer_size(self._sizes, src._sizes)
        TORCH_CHECK(
            self._sizes == shape, "output with shape ", self._sizes, " doesn't match the broadcast shape ", shape
        )
    copy_kernel(self, src)
    return self


@doors.frame("at::native::copy_kernel")
def copy_kernel(self: Tensor, src: Tensor) -> None:
    target, source = self.array, src.array
    if self._dtype is not src._dtype:
        source = convert(source, src._dtype, self._dtype)
    elif self._storage is src._storage:
        source = source.copy()  # the two may interleave
    lazy = self._ks ^ src._ks  # a bit that one of them has is carried out on the way
    if lazy & _CONJUGATE and self._dtype.is_complex:
        source = np.conj(source)
    if lazy & _NEGATIVE:
        source = -source
    np.copyto(target, source)


@doors.frame("at::native::copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    if not self._dtype.is_complex and src._dtype.is_complex:
        TORCH_WARN_ONCE("Casting complex values to real discards the imaginary part")
    if 0 in self._sizes and self._sizes == src._sizes:
        return self
    return copy_impl(self, src, non_blocking)
