"""aten/src/ATen/templates/TensorBody.h: at::Tensor, and how tensors are made from a storage.

Differs: at::Tensor, its impl and Python's torch.Tensor are one object. The Python methods are attached by
engine.torch; kernels use ``at.NAME.call`` instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.layout import Layout, strided
from engine.c10.local_dispatch_key_set import tls
from engine.c10.scalar_type import Bool, ComplexDouble, Double, Long, ScalarType
from engine.c10.storage import StorageImpl
from engine.c10.tensor_impl import TensorImpl, VersionCounter

__all__ = ["Tensor", "empty_tensor", "make_tensor", "view_of", "wrapped_scalar_tensor"]

_AD_INPLACE = DispatchKeySet(DispatchKey.ADInplaceOrView).raw_repr()
_AUTOGRAD = DispatchKeySet(DispatchKey.AutogradFunctionality).raw_repr()
# TensorImpl's constructor: not in inference mode a tensor gets the autograd and ADInplaceOrView keys beside its backend
_VARIABLE_KEYS = _AD_INPLACE | _AUTOGRAD


class Tensor(TensorImpl):
    """A tensor. ``make_tensor`` and ``view_of`` make them; a bare ``Tensor.__new__`` has no storage."""

    __slots__ = ("__dict__",)


def make_tensor(
    storage: StorageImpl,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    dtype: ScalarType,
    device: Device,
    ks: int,
    layout: Layout = strided,
    cls: type[Tensor] = Tensor,
) -> Tensor:
    """A tensor over ``storage``.

    ``ks`` is the raw set of its backend key (0x10001 for CPU); the autograd keys are added here as TensorImpl's
    constructor does, except in inference mode.
    """
    t = cls.__new__(cls)
    t._storage = storage
    t._sizes = sizes
    t._strides = strides
    t._offset = offset
    t._dtype = dtype
    t._device = device
    t._layout = layout
    t._autograd_meta = None
    t._wrapped = False
    t._names = None
    t._debug_id = 0
    t._array = None
    t._array_of = None
    if tls.inference_mode:
        t._ks = ks
        t._version_counter = None
    else:
        t._ks = ks | _VARIABLE_KEYS
        t._version_counter = VersionCounter()
    return t


def view_of(
    base: Tensor,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    dtype: ScalarType | None = None,
) -> Tensor:
    """at::native::alias_with_sizes_and_strides: another tensor over ``base``'s storage, with ``base``'s key set.

    The version counter becomes shared where the ADInplaceOrView kernel calls as_view.
    """
    t = make_tensor(base._storage, sizes, strides, offset, dtype or base._dtype, base._device, 0, base._layout)
    t._ks = base._ks
    return t


def empty_tensor(
    sizes: tuple[int, ...], strides: tuple[int, ...], dtype: ScalarType, device: Device, ks: int
) -> Tensor:
    """at::detail::empty_strided_generic: a fresh tensor without dispatch, as structured kernels allocate outputs."""
    extent = 1
    for size, stride in zip(sizes, strides, strict=True):
        if size == 0:
            extent = 0
            break
        extent += (size - 1) * stride
    return make_tensor(StorageImpl(extent * dtype.itemsize, device), sizes, strides, 0, dtype, device, ks)


_CPU = Device("cpu")
_CPU_KS = DispatchKeySet(DispatchKey.CPU).raw_repr()


def wrapped_scalar_tensor(value: Any) -> Tensor:
    """at::native::wrapped_scalar_tensor: a 0-dim CPU tensor that promotes as a Python number, made without dispatch."""
    if isinstance(value, bool):
        dtype = Bool
    elif isinstance(value, int):
        dtype = Long
    elif isinstance(value, float):
        dtype = Double
    else:
        dtype = ComplexDouble
    assert dtype.np is not None
    buffer = np.frombuffer(bytearray(np.array(value, dtype.np).tobytes()), dtype=np.uint8)
    t = make_tensor(StorageImpl(len(buffer), _CPU, buffer), (), (), 0, dtype, _CPU, _CPU_KS)
    t._wrapped = True
    return t
