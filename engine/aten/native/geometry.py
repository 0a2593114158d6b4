"""c10/core/TensorImpl.h: what the sizes and strides of a tensor say about how it lies in memory.

Differs: computed on demand, where TensorImpl keeps the answers as flags.
"""

from __future__ import annotations

from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import (
    ChannelsLast,
    ChannelsLast3d,
    Contiguous,
    MemoryFormat,
    contiguous_strides,
    get_channels_last_strides_2d,
    get_channels_last_strides_3d,
    is_channels_last_strides_2d,
    is_channels_last_strides_3d,
)

__all__ = [
    "empty_tensor_restride",
    "is_contiguous",
    "is_non_overlapping_and_dense",
    "suggest_memory_format",
]

_ORDER = {ChannelsLast: (1, 3, 2, 0), ChannelsLast3d: (1, 4, 3, 2, 0)}


def is_contiguous(t: Tensor, memory_format: MemoryFormat = Contiguous) -> bool:
    """Whether elements follow each other without gaps in the order of ``memory_format``."""
    order = _ORDER.get(memory_format)
    if order is None:
        return t.is_contiguous_()
    if len(t._sizes) != len(order):
        return False
    expected = 1
    for d in order:
        size = t._sizes[d]
        if size != 1:
            if t._strides[d] != expected:
                return False
            expected *= size
    return True


def is_non_overlapping_and_dense(t: Tensor) -> bool:
    """Whether the elements fill a block of memory, each place once, in some order of the dimensions."""
    if t.is_contiguous_():
        return True
    sizes, strides = t._sizes, t._strides
    if len(sizes) == 1:
        return sizes[0] < 2 or strides[0] == 1
    # dimensions of size 0 and 1 do not matter and go to the end
    expected = 1
    for d in sorted(range(len(sizes)), key=lambda d: (sizes[d] < 2, strides[d])):
        if sizes[d] < 2:
            return True
        if strides[d] != expected:
            return False
        expected *= sizes[d]
    return True


def suggest_memory_format(t: Tensor) -> MemoryFormat:
    """The format that a result of the same kind should have: ChannelsLast where the strides say so."""
    if len(t._sizes) == 4 and is_channels_last_strides_2d(t._sizes, t._strides):
        return ChannelsLast
    if len(t._sizes) == 5 and is_channels_last_strides_3d(t._sizes, t._strides):
        return ChannelsLast3d
    return Contiguous


def empty_tensor_restride(t: Tensor, memory_format: MemoryFormat) -> None:
    """Give ``t`` the strides of ``memory_format``."""
    if memory_format is Contiguous:
        strides = contiguous_strides(t._sizes)
    elif memory_format is ChannelsLast:
        TORCH_CHECK(t.dim_() == 4, "required rank 4 tensor to use channels_last format")
        strides = get_channels_last_strides_2d(t._sizes)
    elif memory_format is ChannelsLast3d:
        TORCH_CHECK(t.dim_() == 5, "required rank 5 tensor to use channels_last_3d format")
        strides = get_channels_last_strides_3d(t._sizes)
    else:
        TORCH_CHECK(False, "unsupported memory format ", memory_format.name)
    t.set_sizes_and_strides(t._sizes, strides)
