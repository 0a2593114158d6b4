"""native_functions.yaml: sum and mean."""

from __future__ import annotations

from engine.aten.native import meta_refs as meta
from engine.aten.native import reduce_ops as native
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

BOTH = "function, method"
DIM = "Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None"

ROWS = (
    NativeFunction(
        func="sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.sum, "Meta": meta.sum},
        derivatives={"self": "grad.expand_symint(self.sym_sizes())"},
    ),
    NativeFunction(
        func=f"sum.dim_IntList({DIM}) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": native.sum_dim_IntList, "Meta": meta.sum_dim_IntList},
        derivatives={"self": "sum_backward(grad, self.sym_sizes(), dim, keepdim)"},
        backward_name="SumBackward1",
    ),
    NativeFunction(
        func=f"sum.IntList_out({DIM}, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": native.sum_IntList_out, "Meta": meta.sum_IntList_out},
    ),
    NativeFunction(
        func="mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.mean, "Meta": meta.mean},
        derivatives={"self": "grad.expand_symint(self.sym_sizes()) / self.sym_numel()"},
    ),
    NativeFunction(
        func="mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeExplicitAutograd": native.mean_dtype_out, "Meta": meta.mean_dtype_out},
    ),
    NativeFunction(
        func=f"mean.dim({DIM}) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": native.mean_dim, "Meta": meta.mean_dim},
        derivatives={"self": "mean_backward(grad, self.sym_sizes(), dim, self.sym_numel(), keepdim)"},
        backward_name="MeanBackward1",
    ),
    NativeFunction(
        func=f"mean.out({DIM}, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": native.mean_out, "Meta": meta.mean_out},
    ),
)
