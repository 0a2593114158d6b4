"""aten/src/ATen/EmptyTensor.cpp: fresh tensors, allocated without a dispatcher call.

Differs: pinned memory does not exist; a Meta tensor's storage has a size and no memory.
"""

from __future__ import annotations

from engine.aten.core.tensor import Tensor, make_tensor
from engine.aten.native.geometry import empty_tensor_restride
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout, Strided
from engine.c10.memory_format import Contiguous, MemoryFormat, Preserve, contiguous_strides
from engine.c10.scalar_type import ScalarType, dtype_or_default
from engine.c10.storage import StorageImpl

__all__ = [
    "computeStorageNbytes",
    "computeStorageNbytesContiguous",
    "empty_cpu",
    "empty_generic",
    "empty_meta",
    "empty_strided_cpu",
    "empty_strided_generic",
    "empty_strided_meta",
]

Sizes = tuple[int, ...]

CPU = Device("cpu")
META = Device("meta")
CPU_KS = DispatchKeySet(DispatchKey.CPU).raw_repr()
META_KS = DispatchKeySet(DispatchKey.Meta).raw_repr()
_MAX = 2**63 - 1
_MAX_U64 = 2**64 - 1


def check_size_nonnegative(size: Sizes) -> None:
    for x in size:
        if x < 0:
            TORCH_CHECK(False, f"Trying to create tensor with negative dimension {x}: {list(size)}")


def safe_multiplies_u64(sizes: Sizes) -> int:
    """The product, or something beyond 64 bits where one on the way to it was, even if a 0 follows."""
    product = 1
    for x in sizes:
        product *= x
        if product > _MAX_U64:
            return product
    return product


def safe_compute_numel(sizes: Sizes) -> int:
    """TensorImpl::safe_compute_numel"""
    numel = safe_multiplies_u64(sizes)
    TORCH_CHECK(0 <= numel <= _MAX and min(sizes, default=0) >= 0, "numel: integer multiplication overflow")
    return numel


def computeStorageNbytesContiguous(sizes: Sizes, itemsize: int, storage_offset: int = 0) -> int:
    """Bytes that a row-major tensor of these sizes needs."""
    size = safe_multiplies_u64(sizes)
    nbytes = itemsize * (storage_offset + size)
    if nbytes > _MAX:
        TORCH_CHECK(False, f"Storage size calculation overflowed with sizes={list(sizes)}")
    return nbytes


def computeStorageNbytes(sizes: Sizes, strides: Sizes, itemsize: int, storage_offset: int = 0) -> int:
    """Bytes from the start of the storage to the last element."""
    TORCH_CHECK(
        len(sizes) == len(strides),
        f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides ({len(strides)})",
    )
    extent = 1
    for size, stride in zip(sizes, strides, strict=True):
        if size == 0:
            return 0
        extent += stride * (size - 1)
    nbytes = itemsize * (storage_offset + extent)
    if nbytes > _MAX or (strides and min(strides) < 0):
        TORCH_CHECK(False, f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}")
    return nbytes


def empty_generic(
    size: Sizes, device: Device, ks: int, dtype: ScalarType, memory_format: MemoryFormat | None = None
) -> Tensor:
    """A tensor with memory of its own, row-major unless ``memory_format`` says otherwise."""
    check_size_nonnegative(size)
    if memory_format is Preserve:
        TORCH_CHECK(False, "unsupported memory format ", memory_format.name)
    storage = StorageImpl(computeStorageNbytesContiguous(size, dtype.itemsize), device)
    strides = contiguous_strides(size)
    TORCH_CHECK(not strides or strides[0] <= _MAX, "Stride calculation overflowed")
    tensor = make_tensor(storage, size, strides, 0, dtype, device, ks)
    if memory_format is not None and memory_format is not Contiguous:
        empty_tensor_restride(tensor, memory_format)
    return tensor


def empty_strided_generic(size: Sizes, stride: Sizes, device: Device, ks: int, dtype: ScalarType) -> Tensor:
    check_size_nonnegative(size)
    nbytes = computeStorageNbytes(size, stride, dtype.itemsize)
    return make_tensor(StorageImpl(nbytes, device), size, stride, 0, dtype, device, ks)


def _check_pinned(pin_memory: bool | None) -> None:
    TORCH_CHECK(
        not pin_memory,
        "pin_memory=True requires a CUDA or other accelerator backend; "
        "no pinned memory allocator is available on this system.",
    )


def _check_strided(layout: Layout | None) -> None:
    TORCH_CHECK(layout is None or layout is Strided, "non-strided layouts are not modelled")


def empty_cpu(
    size: Sizes,
    dtype: ScalarType | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """at::detail::empty_cpu"""
    if pin_memory:
        _check_pinned(pin_memory)
    if layout is not None and layout is not Strided:
        _check_strided(layout)
    return empty_generic(size, CPU, CPU_KS, dtype_or_default(dtype), memory_format)


def empty_strided_cpu(
    size: Sizes, stride: Sizes, dtype: ScalarType | None = None, pin_memory: bool | None = None
) -> Tensor:
    """at::detail::empty_strided_cpu"""
    _check_pinned(pin_memory)
    return empty_strided_generic(size, stride, CPU, CPU_KS, dtype_or_default(dtype))


def empty_meta(
    size: Sizes,
    dtype: ScalarType | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """at::detail::empty_meta"""
    TORCH_CHECK(not pin_memory, "Only dense CPU tensors can be pinned")
    _check_strided(layout)
    return empty_generic(size, META, META_KS, dtype_or_default(dtype), memory_format)


def empty_strided_meta(
    size: Sizes, stride: Sizes, dtype: ScalarType | None = None, pin_memory: bool | None = None
) -> Tensor:
    """at::detail::empty_strided_meta"""
    TORCH_CHECK(not pin_memory, "Only dense CPU tensors can be pinned")
    return empty_strided_generic(size, stride, META, META_KS, dtype_or_default(dtype))
