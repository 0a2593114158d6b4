"""native_functions.yaml: questions about a tensor."""

from __future__ import annotations

from engine.aten.native import meta_refs as meta
from engine.aten.native import tensor_properties as native
from engine.aten.native import tensor_shape
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

BOTH = "function, method"

ROWS = (
    NativeFunction(
        func="item(Tensor self) -> Scalar",
        variants="method",
        dispatch={"CompositeImplicitAutograd": native.item},
        python=False,
    ),
    NativeFunction(
        func="_local_scalar_dense(Tensor self) -> Scalar",
        dispatch={"CPU": native._local_scalar_dense_cpu, "Meta": native._local_scalar_dense_meta},
        python=False,
    ),
    NativeFunction(
        func="_has_compatible_shallow_copy_type(Tensor self, Tensor from) -> bool",
        dispatch={"CompositeImplicitAutograd": native._has_compatible_shallow_copy_type},
    ),
    NativeFunction(
        func="is_nonzero(Tensor self) -> bool",
        variants=BOTH,
        dispatch={"CompositeImplicitAutograd": native.is_nonzero},
    ),
    NativeFunction(
        func="is_same_size(Tensor self, Tensor other) -> bool",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.is_same_size, "Meta": meta.is_same_size},
    ),
    NativeFunction(
        func="sum_to_size(Tensor self, SymInt[] size) -> Tensor",
        variants="method",
        dispatch={"CompositeImplicitAutograd": tensor_shape.sum_to_size_symint},
    ),
)
