"""native_functions.yaml: tensors without lazy bits, which leaving for Python asks for."""

from __future__ import annotations

from engine.aten.native import resolve_bits as native
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

ROWS = (
    NativeFunction(
        func="resolve_conj(Tensor(a) self) -> Tensor(a)",
        variants="function, method",
        dispatch={"CompositeImplicitAutograd": native.resolve_conj},
    ),
    NativeFunction(
        func="resolve_neg(Tensor(a) self) -> Tensor(a)",
        variants="function, method",
        dispatch={"CompositeImplicitAutograd": native.resolve_neg},
    ),
)
