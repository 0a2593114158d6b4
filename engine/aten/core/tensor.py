"""aten/src/ATen/templates/TensorBody.h: at::Tensor, and how tensors are made from a storage.

Differs: at::Tensor, its impl and Python's torch.Tensor are one object. The Python methods are attached by
engine.torch; kernels use ``at.NAME.call`` instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey, full_backend_mask
from engine.c10.dispatch_key_set import (
    DispatchKeySet,
    autograd_dispatch_keyset_with_ADInplaceOrView,
    getAutocastRelatedKeySetFromBackend,
    getAutogradRelatedKeySetFromBackend,
)
from engine.c10.layout import Layout, strided
from engine.c10.local_dispatch_key_set import tls
from engine.c10.scalar_type import Bool, ComplexDouble, Double, Long, ScalarType, UInt64
from engine.c10.storage import StorageImpl
from engine.c10.tensor_impl import TensorImpl, VersionCounter

__all__ = ["Tensor", "empty_tensor", "make_tensor", "view_of", "wrapped_scalar_tensor"]

# raw backend key set -> the key set of a new tensor, outside and inside inference mode
_key_sets: dict[int, tuple[int, int]] = {}


def _key_sets_of(ks: int) -> tuple[int, int]:
    """TensorImpl's constructor: a tensor also has the autocast keys of its backend and, not in inference mode, those
    of autograd and ADInplaceOrView."""
    backend = DispatchKeySet.from_raw_repr(ks).highestBackendKey()
    with_autocast = ks | getAutocastRelatedKeySetFromBackend(backend).raw_repr()
    found = _key_sets[ks] = (
        with_autocast | getAutogradRelatedKeySetFromBackend(backend).raw_repr(),
        with_autocast & ~(autograd_dispatch_keyset_with_ADInplaceOrView & ~full_backend_mask),
    )
    return found


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

    ``ks`` is the raw set of its backend key (0x10001 for CPU); autocast and autograd keys are added here.
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
    normal, inference = _key_sets.get(ks) or _key_sets_of(ks)
    if tls.inference_mode:
        t._ks = inference
        t._version_counter = None
    else:
        t._ks = normal
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
    t = make_tensor(base._storage, sizes, strides, offset, dtype or base._dtype, base._device, base._ks, base._layout)
    t._ks = base._ks
    if base.is_inference_():
        t._version_counter = None
    elif t._version_counter is None:
        t._version_counter = VersionCounter()
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
        dtype = Long if value < 1 << 63 else UInt64
    elif isinstance(value, float):
        dtype = Double
    else:
        dtype = ComplexDouble
    assert dtype.np is not None
    buffer = np.frombuffer(bytearray(np.array(value, dtype.np).tobytes()), dtype=np.uint8)
    t = make_tensor(StorageImpl(len(buffer), _CPU, buffer), (), (), 0, dtype, _CPU, _CPU_KS)
    t._wrapped = True
    return t
