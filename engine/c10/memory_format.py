"""c10/core/MemoryFormat.h: in which order an operator is asked to lay out its result.

One object per format: C++'s ``c10::MemoryFormat`` and Python's ``torch.memory_format``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from engine.c10 import exception


class MemoryFormat:
    """A memory format; the singletons of this module are the only instances."""

    __slots__ = ("name", "torch_name", "value")

    name: str  # C++'s name: "Contiguous"
    torch_name: str  # Python's: "contiguous_format"
    value: int

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        raise TypeError("cannot create 'torch.memory_format' instances")

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'torch.memory_format' is not an acceptable base type")

    def __repr__(self) -> str:
        return f"torch.{self.torch_name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return memory_format_by_name, (self.torch_name,)


MemoryFormat.__name__ = MemoryFormat.__qualname__ = "memory_format"
MemoryFormat.__module__ = "torch"

_BY_NAME: Final[dict[str, MemoryFormat]] = {}


def _make(name: str, torch_name: str) -> MemoryFormat:
    self: MemoryFormat = object.__new__(MemoryFormat)
    self.name = name
    self.torch_name = torch_name
    self.value = len(_BY_NAME)
    _BY_NAME[torch_name] = self
    return self


Contiguous = contiguous_format = _make("Contiguous", "contiguous_format")
Preserve = preserve_format = _make("Preserve", "preserve_format")
ChannelsLast = channels_last = _make("ChannelsLast", "channels_last")
ChannelsLast3d = channels_last_3d = _make("ChannelsLast3d", "channels_last_3d")


def all_memory_formats() -> tuple[MemoryFormat, ...]:
    """Every format, in c10's order."""
    return tuple(_BY_NAME.values())


def memory_format_by_name(name: str) -> MemoryFormat:
    """From Python's name: ``"channels_last"``; KeyError when there is no such format."""
    return _BY_NAME[name]


def toString(memory_format: MemoryFormat) -> str:
    """C++'s name of the format: ``"Contiguous"``."""
    return memory_format.name


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides; a dimension of size 0 counts as 1, as in PyTorch."""
    strides = [0] * len(sizes)
    step = 1
    for d in range(len(sizes) - 1, -1, -1):
        strides[d] = step
        step *= max(sizes[d], 1)
    return tuple(strides)


def get_channels_last_strides_2d(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides of NHWC order for sizes (N, C, H, W) or (C, H, W)."""
    if len(sizes) == 4:
        _, c, h, w = sizes
        return h * w * c, 1, w * c, c
    if len(sizes) == 3:
        c, h, w = sizes
        return 1, w * c, c
    exception.TORCH_INTERNAL_ASSERT(False, "false", "ChannelsLast2d doesn't support size ", len(sizes))
    raise AssertionError


def get_channels_last_strides_3d(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides of NDHWC order for sizes (N, C, D, H, W) or (C, D, H, W)."""
    if len(sizes) == 5:
        _, c, d, h, w = sizes
        return d * h * w * c, 1, h * w * c, w * c, c
    if len(sizes) == 4:
        c, d, h, w = sizes
        return 1, h * w * c, w * c, c
    exception.TORCH_INTERNAL_ASSERT(False, "false", "ChannelsLast3d doesn't support size ", len(sizes))
    raise AssertionError


_ORDER_2D: Final = (1, 3, 2, 0)
_ORDER_3D: Final = (1, 4, 3, 2, 0)


def _channels_last_strides(order: tuple[int, ...], sizes: Sequence[int], strides: Sequence[int]) -> bool:
    if strides[1] == 0:  # a trivial channel dimension counts as row-major
        return False
    least = 0
    for d in order:
        if sizes[d] == 0 or strides[d] < least:
            return False
        # N111 tensors and slices of them could be either; PyTorch takes them as row-major
        if d == 0 and least == strides[1]:
            return False
        least = strides[d]
        if sizes[d] > 1:
            least *= sizes[d]
    return True


def is_channels_last_strides_2d(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether these strides say NHWC (only for 4 dimensions)."""
    return len(sizes) == 4 and _channels_last_strides(_ORDER_2D, sizes, strides)


def is_channels_last_strides_3d(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether these strides say NDHWC (only for 5 dimensions)."""
    return len(sizes) == 5 and _channels_last_strides(_ORDER_3D, sizes, strides)


def strides_for(sizes: Sequence[int], memory_format: MemoryFormat) -> tuple[int, ...]:
    """The strides of a dense tensor of that format. Preserve has none of its own and counts as Contiguous."""
    if memory_format is ChannelsLast:
        return get_channels_last_strides_2d(sizes)
    if memory_format is ChannelsLast3d:
        return get_channels_last_strides_3d(sizes)
    return contiguous_strides(sizes)
