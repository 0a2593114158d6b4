"""native_functions.yaml: tensors made of several tensors."""

from __future__ import annotations

from engine.aten.native import tensor_joining as native
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

ROWS = (
    NativeFunction(
        func="cat(Tensor[] tensors, int dim=0) -> Tensor",
        structured=True,
        dispatch={"CPU, Meta": native.cat},
        derivatives={
            "tensors": "cat_tensors_backward(grad, to_args_sizes_symint(tensors), to_args_scalartypes(tensors), dim)"
        },
    ),
    NativeFunction(
        func="cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU, Meta": native.cat_out},
    ),
    NativeFunction(
        func="stack(Tensor[] tensors, int dim=0) -> Tensor",
        dispatch={"CompositeExplicitAutograd, Meta": native.stack},
        derivatives={"tensors": "stack_tensors_backward(grad, dim, to_args_scalartypes(tensors))"},
    ),
)
