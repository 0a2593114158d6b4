"""native_functions.yaml: lazy conjugates, and tensors without lazy bits, which leaving for Python asks for."""

from __future__ import annotations

from engine.aten.native import resolve_bits as native
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

ROWS = (
    NativeFunction(
        func="_conj(Tensor(a) self) -> Tensor(a)",
        variants="function, method",
        dispatch={"CompositeExplicitAutograd": native._conj},
        derivatives={"self": "grad.conj()"},
    ),
    NativeFunction(
        func="conj(Tensor(a) self) -> Tensor(a)",
        variants="function, method",
        dispatch={"CompositeImplicitAutograd": native.conj},
    ),
    NativeFunction(
        func="_conj_physical(Tensor self) -> Tensor",
        variants="function, method",
        dispatch={"CompositeExplicitAutograd": native._conj_physical},
        derivatives={"self": "grad.conj_physical()"},
    ),
    NativeFunction(
        func="conj_physical(Tensor self) -> Tensor",
        variants="function, method",
        dispatch={"CompositeImplicitAutograd": native.conj_physical},
    ),
    NativeFunction(
        func="conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CPU, Meta": native.conj_physical_out},
    ),
    NativeFunction(
        func="conj_physical_(Tensor(a!) self) -> Tensor(a!)",
        variants="function, method",
        dispatch={"CompositeExplicitAutograd, Meta": native.conj_physical_},
        derivatives={"self": "grad.conj_physical()"},
        backward_name="ConjPhysicalBackward1",
    ),
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
