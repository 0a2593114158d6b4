"""aten/src/ATen/native/Resize.cpp and ResizeCommon.h: changing the geometry of a tensor in place.

Differs: contents beyond the old size are whatever numpy's memory holds; deterministic filling does not exist.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.empty_tensor import computeStorageNbytes, computeStorageNbytesContiguous, safe_compute_numel
from engine.aten.native.geometry import empty_tensor_restride, suggest_memory_format
from engine.c10.exception import TORCH_CHECK, TORCH_WARN
from engine.c10.memory_format import MemoryFormat, Preserve, contiguous_strides

__all__ = ["resize_", "resize_as_", "resize_impl", "resize_output", "resize_output_check", "setStrided"]

Sizes = tuple[int, ...]


def resize_impl(self: Tensor, size: Sizes, stride: Sizes | None = None) -> None:
    """resize_impl_cpu_: new sizes, contiguous unless ``stride`` is given; the storage grows where it must."""
    if self._sizes == size and (stride is None or self._strides == stride):
        return
    safe_compute_numel(size)
    item = self._dtype.itemsize
    if stride is not None:
        nbytes = computeStorageNbytes(size, stride, item, self._offset)
        self.set_sizes_and_strides(size, stride)
    else:
        nbytes = computeStorageNbytesContiguous(size, item, self._offset)
        self.set_sizes_and_strides(size, contiguous_strides(size))
    if 0 not in size and nbytes > self._storage.nbytes:
        TORCH_CHECK(self._storage.resizable, "Trying to resize storage that is not resizable")
        self._storage.resize(nbytes)


def _resize(self: Tensor, size: Sizes, memory_format: MemoryFormat | None) -> Tensor:
    resize_impl(self, size)
    if memory_format is not None:
        TORCH_CHECK(memory_format is not Preserve, "Unsupported memory format", memory_format.name)
        empty_tensor_restride(self, memory_format)
    return self


@doors.frame("at::native::resize_")
def resize_(self: Tensor, size: Sizes, memory_format: MemoryFormat | None) -> Tensor:
    return _resize(self, size, memory_format)


@doors.frame("at::native::resize__symint")
def resize__symint(self: Tensor, size: Sizes, memory_format: MemoryFormat | None) -> Tensor:
    return _resize(self, size, memory_format)


@doors.frame("at::native::resize_as_")
def resize_as_(self: Tensor, the_template: Tensor, memory_format: MemoryFormat | None) -> Tensor:
    at.resize_.call(self, the_template._sizes, None)
    if memory_format is not None:
        if memory_format is Preserve:
            memory_format = suggest_memory_format(the_template)
        empty_tensor_restride(self, memory_format)
    return self


def resize_output_check(output: Tensor, shape: Sizes) -> bool:
    """Whether ``output`` must be resized to ``shape``; warns when that loses elements."""
    if output._sizes == shape:
        return False
    if output.numel_() != 0:
        TORCH_WARN(
            "An output with one or more elements was resized since it had ",
            "shape ",
            output._sizes,
            ", which does not match the required ",
            "output shape ",
            shape,
            ". ",
            "This behavior is deprecated, and in a future PyTorch release outputs ",
            "will not be resized unless they have zero elements. You can explicitly ",
            "reuse an out tensor t by resizing it, inplace, to zero elements with ",
            "t.resize_(0).",
        )
    return True


def resize_output(output: Tensor, shape: Sizes) -> bool:
    """Resize an ``out=`` argument; a CPU tensor without a dispatcher call."""
    if not resize_output_check(output, shape):
        return False
    if output._device.type == "cpu":
        resize_(output, shape, None)
    else:
        at.resize_.call(output, shape, None)
    return True


def checkInBoundsForStorage(size: Sizes, stride: Sizes, storage_offset: int, self: Tensor) -> None:
    item = self._dtype.itemsize
    needed = computeStorageNbytes(size, stride, item, storage_offset)
    if needed != 0 and 0 not in size and needed > self._storage.nbytes:
        TORCH_CHECK(
            False,
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {storage_offset}, "
            f"and itemsize {item} requiring a storage size of {needed} are out of bounds for storage of size "
            f"{self._storage.nbytes}",
        )


def setStrided(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int) -> None:
    """Checks that a geometry fits in the storage of ``self`` and gives it to ``self``."""
    TORCH_CHECK(len(size) == len(stride), "mismatch in length of strides and shape")
    if stride and min(stride) < 0:
        TORCH_CHECK(False, "as_strided: Negative strides are not supported at the moment, got strides: ", stride)
    if self._device.type != "meta":  # there is nothing to be out of
        checkInBoundsForStorage(size, stride, storage_offset, self)
    safe_compute_numel(size)
    TORCH_CHECK(storage_offset >= 0, "Tensor: invalid storage offset ", storage_offset)
    self.set_sizes_and_strides(size, stride, storage_offset)
