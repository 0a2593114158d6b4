"""native_functions.yaml: tensors made from sizes and options."""

from __future__ import annotations

from engine.aten.native import filled_factories as filled
from engine.aten.native import meta_factories as meta
from engine.aten.native import range_factories as ranges
from engine.aten.native import tensor_factories as native
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
LIKE = f"(Tensor self, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor"

ROWS = (
    NativeFunction(
        func=f"empty.names(int[] size, *, Dimname[]? names, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.empty_names},
        article=True,
    ),
    NativeFunction(
        func=f"empty.memory_format(SymInt[] size, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
        dispatch={"CPU": native.empty_cpu, "Meta": native.empty_meta_symint},
    ),
    NativeFunction(
        func="empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeImplicitAutograd": native.empty_out},
    ),
    NativeFunction(
        func=f"empty_strided(SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor",
        dispatch={"CPU": native.empty_strided_cpu, "Meta": native.empty_strided_meta_symint},
    ),
    NativeFunction(
        func=f"empty_permuted(SymInt[] size, int[] physical_layout, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.empty_permuted_symint},
    ),
    NativeFunction(
        func=f"empty_like{LIKE}",
        dispatch={"CompositeExplicitAutograd": native.empty_like, "Meta": meta.empty_like},
        derivatives={},
    ),
    NativeFunction(
        func=f"new_empty(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor",
        variants="method",
        dispatch={"CompositeExplicitAutograd": native.new_empty_symint, "Meta": meta.new_empty},
        derivatives={},
    ),
    NativeFunction(
        func=f"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor",
        variants="method",
        dispatch={
            "CompositeExplicitAutogradNonFunctional": native.new_empty_strided_symint,
            "Meta": meta.new_empty_strided,
        },
        derivatives={},
    ),
    NativeFunction(
        func=f"new_full(Tensor self, SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
        variants="method",
        dispatch={"CompositeExplicitAutograd": filled.new_full, "Meta": meta.new_full},
        derivatives={},
    ),
    NativeFunction(
        func=f"new_ones(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor",
        variants="method",
        dispatch={"CompositeExplicitAutograd": filled.new_ones, "Meta": meta.new_ones},
        derivatives={},
    ),
    NativeFunction(
        func=f"new_zeros(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor",
        variants="method",
        dispatch={"CompositeExplicitAutograd": filled.new_zeros, "Meta": meta.new_zeros},
        derivatives={},
    ),
    NativeFunction(
        func=f"full(SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.full, "Meta": meta.full},
    ),
    NativeFunction(
        func="full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeExplicitAutograd": filled.full_out, "Meta": meta.full_out},
    ),
    NativeFunction(
        func=f"full_like(Tensor self, Scalar fill_value, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.full_like},
        derivatives={},
    ),
    NativeFunction(
        func=f"ones(SymInt[] size, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.ones, "Meta": meta.ones},
    ),
    NativeFunction(
        func="ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeExplicitAutograd": filled.ones_out, "Meta": meta.ones_out},
    ),
    NativeFunction(
        func=f"ones_like{LIKE}",
        dispatch={"CompositeExplicitAutograd": filled.ones_like, "Meta": meta.ones_like},
        derivatives={},
    ),
    NativeFunction(
        func=f"zeros(SymInt[] size, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.zeros_symint, "Meta": meta.zeros},
    ),
    NativeFunction(
        func="zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeExplicitAutograd": filled.zeros_out, "Meta": meta.zeros_out},
    ),
    NativeFunction(
        func=f"zeros_like{LIKE}",
        dispatch={"CompositeExplicitAutograd": filled.zeros_like, "Meta": meta.zeros_like},
        derivatives={},
    ),
    NativeFunction(
        func=f"scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.scalar_tensor, "Meta": meta.scalar_tensor},
    ),
    NativeFunction(
        func=f"eye(SymInt n, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.eye, "Meta": meta.eye},
    ),
    NativeFunction(
        func=f"eye.m(SymInt n, SymInt m, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": filled.eye_m, "Meta": meta.eye_m},
    ),
    NativeFunction(
        func="eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CPU": filled.eye_out_cpu_n, "Meta": meta.eye_out},
    ),
    NativeFunction(
        func="eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CPU": filled.eye_out_cpu, "Meta": meta.eye_m_out},
    ),
    NativeFunction(
        func=f"arange(Scalar end, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": ranges.arange, "Meta": meta.arange},
    ),
    NativeFunction(
        func=f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": ranges.arange_start, "Meta": meta.arange_start},
    ),
    NativeFunction(
        func=f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
        dispatch={"CompositeExplicitAutograd": ranges.arange_start_step, "Meta": meta.arange_start_step},
    ),
    NativeFunction(
        func="arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CompositeExplicitAutograd": ranges.arange_out, "Meta": meta.arange_out},
    ),
    NativeFunction(
        func="arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)",
        dispatch={"CPU": ranges.arange_start_out, "Meta": meta.arange_start_out},
    ),
)
