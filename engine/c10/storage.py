"""c10/core/StorageImpl.h: the memory that tensors share.

Differs: memory is a numpy byte array; a Meta storage has a size and no memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.c10.device import Device

__all__ = ["StorageImpl"]


class StorageImpl:
    """``nbytes`` bytes on ``device``; ``buffer`` is a 1-D uint8 array, or None on the Meta device."""

    __slots__ = ("buffer", "device", "nbytes", "resizable")

    def __init__(self, nbytes: int, device: Device, buffer: npt.NDArray[np.uint8] | None = None) -> None:
        self.nbytes = nbytes
        self.device = device
        self.resizable = True
        self.buffer: npt.NDArray[Any] | None
        if buffer is None and device.type != "meta":
            buffer = np.empty(nbytes, dtype=np.uint8)
        self.buffer = buffer

    def resize(self, nbytes: int) -> None:
        """at::native::resize_bytes_cpu: new memory of ``nbytes``, the old contents copied."""
        if self.buffer is not None:
            fresh = np.empty(nbytes, dtype=np.uint8)
            kept = min(nbytes, self.nbytes)
            fresh[:kept] = self.buffer[:kept]
            self.buffer = fresh
        self.nbytes = nbytes

    def data_ptr(self) -> int:
        """Address of the memory; 0 on the Meta device and for empty storages."""
        if self.buffer is None or not self.nbytes:
            return 0
        return int(self.buffer.__array_interface__["data"][0])
