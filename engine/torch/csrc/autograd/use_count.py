"""c10/util/intrusive_ptr.h: use_count, how many hold a tensor or a storage; decides what backward may overwrite.

Python's reference count of the one object stands for C++'s count of handles. What the measuring itself adds is
measured at import, since it depends on the Python version.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["storage_use_count", "use_count"]


class _Probe:
    __slots__ = ("_storage",)

    def __init__(self) -> None:
        self._storage = object()


def _item_count(holder: list[Any], index: int) -> int:
    return sys.getrefcount(holder[index])


def _storage_count(t: Any) -> int:
    return sys.getrefcount(t._storage)


_ITEM = _item_count([object()], 0) - 1
_STORAGE = _storage_count(_Probe()) - 1


def use_count(holder: list[Any], index: int) -> int:
    """How many hold ``holder[index]``; 1 when only ``holder`` does."""
    return _item_count(holder, index) - _ITEM


def storage_use_count(t: Any) -> int:
    """How many tensors share ``t``'s storage; 1 when only ``t`` does."""
    return _storage_count(t) - _STORAGE
