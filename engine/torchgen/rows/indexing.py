"""native_functions.yaml: reading and adding at indices."""

from __future__ import annotations

from engine.aten.native import tensor_advanced_indexing as native
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

BOTH = "function, method"

ROWS = (
    NativeFunction(
        func="index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU, Meta": native.index_add},
        derivatives={
            "self": "grad",
            "source": (
                "maybe_multiply(grad.index_select(dim, index).expand_as(source) if source.dim() > 0 "
                "else grad.index_select(dim, index.squeeze(0)), alpha)"
            ),
            "index": "non_differentiable",
        },
    ),
    NativeFunction(
        func="index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
        variants="method",
        structured=True,
        dispatch={"CPU, Meta": native.index_add_},
    ),
    NativeFunction(
        func=(
            "index_add.out(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor(a!) out) -> "
            "Tensor(a!)"
        ),
        structured=True,
        dispatch={"CPU, Meta": native.index_add_out},
    ),
    NativeFunction(
        func="index_select(Tensor self, int dim, Tensor index) -> Tensor",
        variants=BOTH,
        dispatch={"CPU, Meta": native.index_select_cpu_},
        derivatives={
            "self": "index_select_backward_symint(grad, self.sym_sizes(), dim, index)",
            "index": "non_differentiable",
        },
    ),
    NativeFunction(
        func="index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> Tensor",
        dispatch={"CompositeImplicitAutograd": native.index_select_backward_symint},
    ),
    NativeFunction(
        func="scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU, Meta": native.scatter_add},
        derivatives={"self": "grad", "index": "non_differentiable", "src": "grad.gather(dim, index)"},
    ),
    NativeFunction(
        func="scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
        variants="method",
        structured=True,
        dispatch={"CPU, Meta": native.scatter_add_},
    ),
    NativeFunction(
        func="scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU, Meta": native.scatter_add_out},
    ),
    NativeFunction(
        func="gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU, Meta": native.gather},
        derivatives={
            "self": "gather_backward(grad, self, dim, index, sparse_grad)",
            "index": "non_differentiable",
        },
    ),
    NativeFunction(
        func="gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU, Meta": native.gather_out},
    ),
    NativeFunction(
        func="gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) -> Tensor",
        dispatch={"CompositeImplicitAutograd": native.gather_backward},
    ),
)
