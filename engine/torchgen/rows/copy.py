"""native_functions.yaml: filling, copying, converting and resizing."""

from __future__ import annotations

from engine.aten.native import copy as copies
from engine.aten.native import fill, resize
from engine.aten.native import meta_factories as meta
from engine.aten.native import tensor_conversions as conversions
from engine.aten.native import tensor_factories as factories
from engine.aten.native import tensor_properties as properties
from engine.torch.csrc.autograd import variable_type_manual as manual
from engine.torchgen.model import NativeFunction
from engine.torchgen.rows.factories import OPTIONS

__all__ = ["ROWS"]

BOTH = "function, method"
TO = "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None"

ROWS = (
    NativeFunction(
        func="fill.Scalar(Tensor self, Scalar value) -> Tensor",
        dispatch={"CompositeExplicitAutograd": fill.fill, "Meta": meta.fill},
        derivatives={"self": "zeros_like(grad)"},
    ),
    NativeFunction(
        func="fill.Tensor(Tensor self, Tensor value) -> Tensor",
        dispatch={"CompositeExplicitAutograd": fill.fill_tensor, "Meta": meta.fill},
        derivatives={"self": "zeros_like(grad)", "value": "grad.sum()"},
        backward_name="FillBackward1",
    ),
    NativeFunction(
        func="fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
        variants=BOTH,
        dispatch={"CPU": fill.fill_, "Meta": fill.fill_meta_},
        derivatives={"self": "zeros_like(grad)"},
        backward_name="FillBackward2",
    ),
    NativeFunction(
        func="fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
        variants=BOTH,
        dispatch={"CPU": fill.fill__tensor, "Meta": fill.fill_meta__tensor},
        derivatives={"self": "zeros_like(grad)", "value": "grad.sum()"},
        backward_name="FillBackward3",
    ),
    NativeFunction(
        func="zero_(Tensor(a!) self) -> Tensor(a!)",
        variants="method, function",
        dispatch={"CPU": fill.zero_, "Meta": fill.zero_meta_},
        derivatives={"self": "zeros_like(grad)"},
    ),
    NativeFunction(
        func="copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
        variants="method",
        dispatch={"CompositeExplicitAutograd": copies.copy_},
        autograd=manual.autograd_copy_,
        adinplaceorview=manual.adinplaceorview_copy_,
        python=False,
    ),
    NativeFunction(
        func="clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": factories.clone},
        derivatives={"self": "grad"},
    ),
    NativeFunction(
        func="contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
        variants="method",
        dispatch={"CompositeImplicitAutograd": properties.contiguous},
        python=False,
    ),
    NativeFunction(
        func="lift_fresh(Tensor(a) self) -> Tensor(a)",
        dispatch={"CompositeExplicitAutograd": factories.lift_fresh},
        derivatives={"self": "grad"},
        adinplaceorview="none",
        python=False,
    ),
    NativeFunction(
        func=(
            f"_to_copy(Tensor self, *, {OPTIONS}, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"
        ),
        dispatch={"CompositeExplicitAutograd": conversions._to_copy},
        derivatives={"self": "_to_copy_backward(grad, self.options())"},
        python=False,
    ),
    NativeFunction(
        func=f"to.dtype_layout(Tensor(a) self, *, {OPTIONS}, {TO}) -> Tensor(a)",
        variants="method",
        dispatch={"CompositeImplicitAutograd": conversions.to_dtype_layout},
        python=False,
    ),
    NativeFunction(
        func=f"to.device(Tensor(a) self, Device device, ScalarType dtype, {TO}) -> Tensor(a)",
        variants="method",
        dispatch={"CompositeImplicitAutograd": conversions.to_device},
        python=False,
    ),
    NativeFunction(
        func=f"to.dtype(Tensor(a) self, ScalarType dtype, {TO}) -> Tensor(a)",
        variants="method",
        dispatch={"CompositeImplicitAutograd": conversions.to_dtype},
        python=False,
    ),
    NativeFunction(
        func=f"to.other(Tensor(a) self, Tensor other, {TO}) -> Tensor(a)",
        variants="method",
        dispatch={"CompositeImplicitAutograd": conversions.to_other},
        python=False,
    ),
    NativeFunction(
        func="type_as(Tensor self, Tensor other) -> Tensor",
        variants="method",
        dispatch={"CompositeImplicitAutograd": conversions.type_as},
    ),
    NativeFunction(
        func="resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
        variants="method",
        dispatch={"CPU": resize.resize_, "Meta": resize.resize__symint},
        autograd=manual.autograd_resize_,
        adinplaceorview=manual.adinplaceorview_resize_,
        inplace_view=True,
    ),
    NativeFunction(
        func=("resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)"),
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": resize.resize_as_},
        autograd=manual.autograd_resize_as_,
        adinplaceorview=manual.adinplaceorview_resize_as_,
        inplace_view=True,
    ),
)
