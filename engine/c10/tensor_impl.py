"""c10/core/TensorImpl.h: sizes, strides, offset, dtype, key set and version counter over a storage.

Differs: one Python object is at::Tensor, its TensorImpl and Python's torch.Tensor at once; an undefined tensor is None.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.c10.device import Device
from engine.c10.dispatch_key_set import autograd_dispatch_keyset_with_ADInplaceOrView, backend_bitset_mask
from engine.c10.exception import TORCH_CHECK_NOT_IMPLEMENTED
from engine.c10.layout import Layout
from engine.c10.scalar_type import ScalarType
from engine.c10.storage import StorageImpl

__all__ = ["TensorImpl", "VersionCounter", "contiguous_strides"]

# the keys that only normal tensors have
_NORMAL = autograd_dispatch_keyset_with_ADInplaceOrView & ~backend_bitset_mask


def _empty_array(sizes: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    try:
        return np.empty(sizes, dtype)
    except ValueError:
        # numpy wants a product that fits without the 0 too; kernels find nothing to do in the smaller one as well
        return np.empty([min(size, 1) for size in sizes], dtype)


class VersionCounter:
    """c10::VariableVersion: how often a tensor and the views that share it were written."""

    __slots__ = ("version",)

    def __init__(self, version: int = 0) -> None:
        self.version = version

    def bump(self) -> None:
        self.version += 1


def contiguous_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements; a dimension of size 0 counts as 1, as in c10."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size if size > 1 else 1
    return tuple(reversed(strides))


class TensorImpl:
    """Metadata of a tensor over a shared storage.

    ``_sizes`` and ``_strides`` are in elements, ``_offset`` too. ``_ks`` is the raw key set. ``_version_counter`` is
    None where none is kept, as in tensors made in inference mode.
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_array_of",
        "_autograd_meta",
        "_debug_id",
        "_device",
        "_dtype",
        "_ks",
        "_layout",
        "_names",
        "_offset",
        "_sizes",
        "_storage",
        "_strides",
        "_version_counter",
        "_wrapped",
    )

    _sizes: tuple[int, ...]
    _strides: tuple[int, ...]
    _offset: int
    _storage: StorageImpl
    _dtype: ScalarType
    _device: Device
    _layout: Layout
    _ks: int
    _autograd_meta: Any
    _version_counter: VersionCounter | None
    _wrapped: bool
    _names: tuple[str | None, ...] | None
    _debug_id: int
    _array: npt.NDArray[Any] | None
    _array_of: npt.NDArray[Any] | None

    def set_sizes_and_strides(
        self, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int | None = None
    ) -> None:
        """Change the geometry in place; ``offset`` None keeps the storage offset."""
        self._sizes = sizes
        self._strides = strides
        if offset is not None:
            self._offset = offset
        self._array = None

    def set_storage(self, storage: StorageImpl) -> None:
        self._storage = storage
        self._array = None

    def is_inference_(self) -> bool:
        """Made in inference mode, or a view of what was: neither autograd nor ADInplaceOrView has a key here."""
        return not self._ks & _NORMAL

    def numel_(self) -> int:
        n = 1
        for size in self._sizes:
            n *= size
        return n

    def dim_(self) -> int:
        return len(self._sizes)

    def is_contiguous_(self) -> bool:
        """Row-major without gaps; dimensions of size 1 do not matter, an empty tensor is contiguous."""
        if self._strides == contiguous_strides(self._sizes):
            return True
        if 0 in self._sizes:
            return True
        expected = 1
        for size, stride in zip(reversed(self._sizes), reversed(self._strides), strict=True):
            if size != 1:
                if stride != expected:
                    return False
                expected *= size
        return True

    def nbytes_needed(self) -> int:
        """Bytes of storage that the geometry reaches, from the start of the storage."""
        extent = 1
        for size, stride in zip(self._sizes, self._strides, strict=True):
            if size == 0:
                return 0
            extent += (size - 1) * stride
        return (self._offset + extent) * self._dtype.itemsize

    @property
    def array(self) -> npt.NDArray[Any]:
        """The tensor's memory as a numpy array that shares it; shape and strides are the tensor's.

        Raises c10::NotImplementedError for a Meta tensor, which has no memory.
        """
        buffer = self._storage.buffer
        cached = self._array
        if cached is not None and self._array_of is buffer:
            return cached
        TORCH_CHECK_NOT_IMPLEMENTED(buffer is not None, "Cannot copy out of meta tensor; no data!")
        dtype = self._dtype.np
        TORCH_CHECK_NOT_IMPLEMENTED(
            dtype is not None, f'"{self._dtype}" is a dtype whose values the engine does not model'
        )
        assert dtype is not None
        step = self._dtype.itemsize
        array: npt.NDArray[Any]
        if 0 in self._sizes:
            array = _empty_array(self._sizes, dtype)
        else:
            array = np.ndarray(
                self._sizes, dtype, buffer, self._offset * step, tuple(stride * step for stride in self._strides)
            )
        self._array = array
        self._array_of = buffer
        return array
