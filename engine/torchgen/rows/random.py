"""native_functions.yaml: random numbers."""

from __future__ import annotations

from engine.aten.native import distributions as native
from engine.aten.native import meta_factories as meta
from engine.torchgen.model import NativeFunction
from engine.torchgen.rows.factories import LIKE, OPTIONS

__all__ = ["ROWS"]

ROWS = (
    NativeFunction(
        func=f"rand.names(SymInt[] size, *, Dimname[]? names, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.rand_names},
        article=True,
    ),
    NativeFunction(
        func=(
            f"rand.generator_with_names(SymInt[] size, *, Generator? generator, Dimname[]? names, {OPTIONS}) -> Tensor"
        ),
        dispatch={"CompositeExplicitAutograd": native.rand_generator_with_names},
        article=True,
    ),
    NativeFunction(
        func=f"rand(SymInt[] size, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.rand, "Meta": meta.rand},
    ),
    NativeFunction(
        func=f"rand.generator(SymInt[] size, *, Generator? generator, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.rand_generator},
    ),
    NativeFunction(
        func="rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeExplicitAutograd": native.rand_out, "Meta": meta.rand_out},
    ),
    NativeFunction(
        func="rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeImplicitAutograd": native.rand_generator_out},
    ),
    NativeFunction(
        func=f"rand_like{LIKE}",
        dispatch={"CompositeExplicitAutograd": native.rand_like},
        derivatives={},
    ),
    NativeFunction(
        func="uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
        variants="method",
        dispatch={"CPU": native.uniform_, "Meta": meta.uniform_},
        derivatives={"self": "zeros_like(grad)"},
    ),
    NativeFunction(
        func="normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
        variants="method",
        dispatch={"CPU": native.normal_, "Meta": meta.normal_},
        derivatives={"self": "zeros_like(grad)"},
    ),
    NativeFunction(
        func=f"randn(SymInt[] size, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.randn, "Meta": meta.randn},
    ),
    NativeFunction(
        func=f"randn.generator(SymInt[] size, *, Generator? generator, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.randn_generator},
    ),
    NativeFunction(
        func=f"randn.names(SymInt[] size, *, Dimname[]? names, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.randn_names},
        article=True,
    ),
    NativeFunction(
        func=(
            f"randn.generator_with_names(SymInt[] size, *, Generator? generator, Dimname[]? names, {OPTIONS}) -> Tensor"
        ),
        dispatch={"CompositeExplicitAutograd": native.randn_generator_with_names},
        article=True,
    ),
    NativeFunction(
        func="randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeImplicitAutograd": native.randn_out},
    ),
    NativeFunction(
        func="randn.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeImplicitAutograd": native.randn_generator_out},
    ),
    NativeFunction(
        func=f"randn_like{LIKE}",
        dispatch={"CompositeExplicitAutograd": native.randn_like},
        derivatives={},
    ),
)
