"""native_functions.yaml: views."""

from __future__ import annotations

from engine.aten.native import meta_refs as meta
from engine.aten.native import tensor_conversions as conversions
from engine.aten.native import tensor_parts as parts
from engine.aten.native import tensor_shape as native
from engine.torch.csrc.autograd import variable_type_manual as manual
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

BOTH = "function, method"
EXPLICIT = "CompositeExplicitAutograd"
IMPLICIT = "CompositeImplicitAutograd"

ROWS = (
    NativeFunction(
        func="alias(Tensor(a) self) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.alias},
        derivatives={"self": "grad"},
        python=False,
    ),
    NativeFunction(
        func="detach(Tensor(a) self) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.detach},
        autograd=manual.autograd_detach,
        adinplaceorview=manual.adinplaceorview_detach,
    ),
    NativeFunction(
        func="detach_(Tensor(a!) self) -> Tensor(a!)",
        variants=BOTH,
        dispatch={EXPLICIT: native.detach_},
        autograd=manual.autograd_detach_,
        adinplaceorview="none",
        inplace_view=True,
    ),
    NativeFunction(
        func="as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
        variants=BOTH,
        dispatch={"CPU": native.as_strided_tensorimpl, "Meta": native.as_strided_tensorimpl_meta_symint},
        derivatives={"self": "as_strided_backward(grad, TensorGeometry(self), size, stride, storage_offset)"},
    ),
    NativeFunction(
        func=(
            "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)"
        ),
        variants=BOTH,
        dispatch={"CompositeExplicitAutogradNonFunctional": native.as_strided__symint},
        derivatives={"self": "as_strided_backward(grad, TensorGeometry(self), size, stride, storage_offset)"},
        backward_name="AsStridedBackward1",
        inplace_view=True,
    ),
    NativeFunction(
        func="expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
        variants="method",
        dispatch={EXPLICIT: native.expand},
        derivatives={"self": "at.sum_to(grad, self.sym_sizes())"},
    ),
    NativeFunction(
        func="expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        variants="method",
        dispatch={IMPLICIT: native.expand_as},
    ),
    NativeFunction(
        func="broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.broadcast_to_symint},
    ),
    NativeFunction(
        func="view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
        variants="method",
        dispatch={"CPU, Meta": native.view},
        derivatives={"self": "grad.reshape_symint(self.sym_sizes())"},
    ),
    NativeFunction(
        func="view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
        variants="method",
        dispatch={EXPLICIT: conversions.view_dtype},
        output_differentiability=(False,),
    ),
    NativeFunction(
        func="view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        variants="method",
        dispatch={IMPLICIT: native.view_as},
    ),
    NativeFunction(
        func="reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.reshape_symint},
    ),
    NativeFunction(
        func="reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        variants="method",
        dispatch={IMPLICIT: native.reshape_as},
    ),
    NativeFunction(
        func="_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
        variants=BOTH,
        dispatch={"CPU, Meta": native._reshape_alias},
        derivatives={"self": "grad.reshape_symint(self.sym_sizes())"},
        python=False,
    ),
    NativeFunction(
        func="_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
        dispatch={EXPLICIT: native._unsafe_view, "Meta": meta._unsafe_view},
        derivatives={"self": "grad.reshape_symint(self.sym_sizes())"},
        python=False,
    ),
    NativeFunction(
        func="flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.flatten_using_ints},
    ),
    NativeFunction(
        func="ravel(Tensor(a) self) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.ravel},
    ),
    NativeFunction(
        func="t(Tensor(a) self) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.t},
        derivatives={"self": "grad.t()"},
    ),
    NativeFunction(
        func="t_(Tensor(a!) self) -> Tensor(a!)",
        variants="method",
        dispatch={EXPLICIT: native.t_, "Meta": meta.t_},
        derivatives={"self": "grad.t()"},
        backward_name="TBackward1",
        inplace_view=True,
    ),
    NativeFunction(
        func="transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.transpose},
        derivatives={"self": "grad.transpose(dim0, dim1)"},
    ),
    NativeFunction(
        func="swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.swapaxes},
    ),
    NativeFunction(
        func="swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.swapdims},
    ),
    NativeFunction(
        func="transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
        variants="method",
        dispatch={EXPLICIT: native.transpose_, "Meta": meta.transpose_},
        derivatives={"self": "grad.transpose(dim0, dim1)"},
        backward_name="TransposeBackward1",
        inplace_view=True,
    ),
    NativeFunction(
        func="permute(Tensor(a) self, int[] dims) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.permute},
        derivatives={"self": "permute_backwards(grad, dims)"},
    ),
    NativeFunction(
        func="numpy_T(Tensor(a) self) -> Tensor(a)",
        variants="method",
        dispatch={IMPLICIT: native.numpy_T},
        python=False,
    ),
    NativeFunction(
        func="mT(Tensor(a) self) -> Tensor(a)",
        variants="method",
        dispatch={IMPLICIT: native.mT},
        python=False,
    ),
    NativeFunction(
        func="movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.movedim_intlist},
    ),
    NativeFunction(
        func="movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: native.movedim_int},
    ),
    NativeFunction(
        func="select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: parts.select_symint},
        derivatives={"self": "select_backward_symint(grad, self.sym_sizes(), dim, index)"},
    ),
    NativeFunction(
        func="select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
        dispatch={"CompositeExplicitAutogradNonFunctional": parts.select_backward_symint, "Meta": meta.select_backward},
        derivatives={"grad_output": "grad.select_symint(dim, index)"},
        python=False,
    ),
    NativeFunction(
        func=(
            "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)"
        ),
        variants=BOTH,
        dispatch={EXPLICIT: parts.slice},
        derivatives={"self": "slice_backward_wrapper(grad, self.sym_sizes(), dim, start, end, step)"},
        python=False,
    ),
    NativeFunction(
        func=(
            "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step)"
            " -> Tensor"
        ),
        dispatch={EXPLICIT: parts.slice_backward, "Meta": meta.slice_backward},
        derivatives={"grad_output": "grad.slice_symint(dim, start, end, step)"},
        python=False,
    ),
    NativeFunction(
        func="narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
        variants=BOTH,
        dispatch={IMPLICIT: parts.narrow_symint},
        adinplaceorview="generated",
    ),
    NativeFunction(
        func="split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        variants=BOTH,
        dispatch={EXPLICIT: parts.split},
        derivatives={"self": "split_backward(grads, split_size, dim, self.sym_sizes(), self.options())"},
    ),
    NativeFunction(
        func="split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
        variants=BOTH,
        dispatch={EXPLICIT: parts.split_with_sizes},
        derivatives={"self": "split_with_sizes_backward(grads, split_sizes, dim, self.sym_sizes(), self.options())"},
    ),
    NativeFunction(
        func="chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
        variants=BOTH,
        dispatch={IMPLICIT: parts.chunk},
        adinplaceorview="generated",
    ),
    NativeFunction(
        func="unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
        variants=BOTH,
        dispatch={EXPLICIT: parts.unbind},
        derivatives={"self": "unbind_backward(grads, dim)"},
    ),
    NativeFunction(
        func="unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.unsqueeze},
        derivatives={"self": "grad.squeeze(dim)"},
    ),
    NativeFunction(
        func="unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
        variants="method",
        dispatch={EXPLICIT: native.unsqueeze_, "Meta": meta.unsqueeze_},
        derivatives={"self": "grad.squeeze(dim)"},
        backward_name="UnsqueezeBackward1",
        inplace_view=True,
    ),
    NativeFunction(
        func="squeeze(Tensor(a) self) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.squeeze},
        derivatives={"self": "unsqueeze_to(grad, self.sym_sizes())"},
    ),
    NativeFunction(
        func="squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.squeeze_dim},
        derivatives={"self": "unsqueeze_to(grad, dim, self.sym_sizes())"},
        backward_name="SqueezeBackward1",
    ),
    NativeFunction(
        func="squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
        variants=BOTH,
        dispatch={EXPLICIT: native.squeeze_dims},
        derivatives={"self": "unsqueeze_to(grad, dim, self.sym_sizes())"},
        backward_name="SqueezeBackward2",
    ),
    NativeFunction(
        func="squeeze_(Tensor(a!) self) -> Tensor(a!)",
        variants="method",
        dispatch={EXPLICIT: native.squeeze_},
        derivatives={"self": "unsqueeze_to(grad, self.sym_sizes())"},
        backward_name="SqueezeBackward3",
        inplace_view=True,
    ),
)
