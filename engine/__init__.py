"""A numpy model of PyTorch's eager runtime: dispatch keys, dispatcher, autograd and kernels, layer by layer.

``import engine.torch as torch`` is the Python-facing module; ``from engine.cpp import torch, at`` the C++ one;
``engine.library.Library`` registers kernels as torch.library does.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["REFERENCES", "reference"]

REFERENCES = ("article", "2.13")

_reference = "article"
_on_switch: list[Callable[[], None]] = []


def reference(name: str | None = None) -> str:
    """The PyTorch whose Python signatures are modelled; with ``name``, switch to it first.

    "article" (the default) has the named-tensor signatures of the article's PyTorch, "2.13" drops them. Nothing else
    differs. Raises ValueError for another name.
    """
    global _reference
    if name is not None:
        if name not in REFERENCES:
            raise ValueError(f"unknown reference {name!r}; known: {', '.join(REFERENCES)}")
        if name != _reference:
            _reference = name
            for refresh in _on_switch:
                refresh()
    return _reference
