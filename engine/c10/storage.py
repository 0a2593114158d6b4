"""c10/core/StorageImpl.h: the memory that tensors share.

Differs: memory is a numpy byte array; a Meta storage has a size and no memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.c10.device import Device
from engine.c10.exception import Error

__all__ = ["StorageImpl", "alloc_cpu"]


def alloc_cpu(nbytes: int) -> npt.NDArray[np.uint8]:
    """c10/core/impl/alloc_cpu.cpp: memory as it comes, or PyTorch's words for that there is none."""
    try:
        return np.empty(nbytes, dtype=np.uint8)
    except MemoryError:
        raise Error(
            "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
            f"allocate {nbytes} bytes. Error code 12 (Cannot allocate memory)"
        ) from None


class StorageImpl:
    """``nbytes`` bytes on ``device``; ``buffer`` is a 1-D uint8 array, or None on the Meta device."""

    __slots__ = ("buffer", "device", "nbytes", "resizable")

    def __init__(self, nbytes: int, device: Device, buffer: npt.NDArray[np.uint8] | None = None) -> None:
        self.nbytes = nbytes
        self.device = device
        self.resizable = True
        self.buffer: npt.NDArray[Any] | None
        if buffer is None and device.type != "meta":
            buffer = alloc_cpu(nbytes)
        self.buffer = buffer

    def resize(self, nbytes: int) -> None:
        """at::native::resize_bytes_cpu: new memory of ``nbytes``, the old contents copied."""
        if self.buffer is not None:
            fresh = alloc_cpu(nbytes)
            kept = min(nbytes, self.nbytes)
            fresh[:kept] = self.buffer[:kept]
            self.buffer = fresh
        self.nbytes = nbytes

    def data_ptr(self) -> int:
        """Address of the memory; 0 on the Meta device and for empty storages."""
        if self.buffer is None or not self.nbytes:
            return 0
        return int(self.buffer.__array_interface__["data"][0])
