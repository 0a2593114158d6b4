"""c10/core/Layout.h: how a tensor's elements are laid out.

One object per layout: C++'s ``c10::Layout`` and Python's ``torch.layout``.
"""

from __future__ import annotations

from typing import Any, Final, Self


class Layout:
    """A layout; the singletons of this module are the only instances."""

    __slots__ = ("name", "torch_name", "value")

    name: str  # C++'s name: "Strided"
    torch_name: str  # Python's: "strided"
    value: int

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        raise TypeError("cannot create 'torch.layout' instances")

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'torch.layout' is not an acceptable base type")

    def __repr__(self) -> str:
        return f"torch.{self.torch_name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return layout_by_name, (self.torch_name,)


Layout.__name__ = Layout.__qualname__ = "layout"
Layout.__module__ = "torch"

_BY_NAME: Final[dict[str, Layout]] = {}


def _make(name: str, torch_name: str) -> Layout:
    self: Layout = object.__new__(Layout)
    self.name = name
    self.torch_name = torch_name
    self.value = len(_BY_NAME)
    _BY_NAME[torch_name] = self
    return self


Strided = strided = _make("Strided", "strided")
Sparse = sparse_coo = _make("Sparse", "sparse_coo")
SparseCsr = sparse_csr = _make("SparseCsr", "sparse_csr")
Mkldnn = _mkldnn = _make("Mkldnn", "_mkldnn")
SparseCsc = sparse_csc = _make("SparseCsc", "sparse_csc")
SparseBsr = sparse_bsr = _make("SparseBsr", "sparse_bsr")
SparseBsc = sparse_bsc = _make("SparseBsc", "sparse_bsc")
Jagged = jagged = _make("Jagged", "jagged")


def all_layouts() -> tuple[Layout, ...]:
    """Every layout, in c10's order."""
    return tuple(_BY_NAME.values())


def layout_by_name(name: str) -> Layout:
    """From Python's name: ``"strided"``; KeyError when there is no such layout."""
    return _BY_NAME[name]


def layout_or_default(layout: Layout | None) -> Layout:
    return Strided if layout is None else layout


def toString(layout: Layout) -> str:
    """C++'s name of the layout: ``"Strided"``."""
    return layout.name
