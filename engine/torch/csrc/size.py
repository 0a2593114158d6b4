"""torch/csrc/Size.cpp: torch.Size, the tuple of a tensor's sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

from engine.aten.core.tensor import Tensor
from engine.torch.csrc.utils.python_numbers import THPUtils_checkLong, register_tp_name, tp_name

__all__ = ["Size"]


class Size(tuple[int, ...]):
    """A tuple of ints that knows how many elements they make."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        if type(sizes) is tuple and all(type(item) is int for item in sizes):
            return tuple.__new__(cls, sizes)
        items = []
        for i, item in enumerate(sizes):
            if THPUtils_checkLong(item):
                items.append(int(item))
            elif isinstance(item, Tensor) and not item._sizes:
                items.append(int(item))  # type: ignore[call-overload]
            elif not isinstance(item, bool) and hasattr(type(item), "__index__") and not isinstance(item, Tensor):
                items.append(item.__index__())
            else:
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{tp_name(item)}')")
        return tuple.__new__(cls, items)

    @classmethod
    def of(cls, sizes: tuple[int, ...]) -> Size:
        """Of sizes that are known to be ints."""
        return tuple.__new__(cls, sizes)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self) -> int:
        """The product of the sizes."""
        n = 1
        for size in self:
            n *= size
        return n

    def __getitem__(self, index: SupportsIndex | slice) -> Any:  # type: ignore[override]
        found = tuple.__getitem__(self, index)
        return tuple.__new__(Size, found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {tp_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, times: SupportsIndex) -> Any:
        return tuple.__new__(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


Size.__module__ = "torch"
register_tp_name(Size, "torch.Size")
