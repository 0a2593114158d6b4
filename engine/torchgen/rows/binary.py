"""native_functions.yaml: arithmetic of two operands; neg, reciprocal and positive."""

from __future__ import annotations

from engine.aten.native import binary_ops as native
from engine.aten.native import meta_refs as meta
from engine.aten.native import unary_ops as unary
from engine.torchgen.model import NativeFunction

__all__ = ["ROWS"]

BOTH = "function, method"

ROWS = (
    NativeFunction(
        func="add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": native.add_Tensor, "Meta": meta.add},
        derivatives={
            "self": "handle_r_to_c(self.scalar_type(), grad)",
            "other": "handle_r_to_c(other.scalar_type(), maybe_multiply(grad, alpha.conj()))",
        },
    ),
    NativeFunction(
        func="add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        variants="method",
        structured=True,
        dispatch={"CPU": native.add__Tensor, "Meta": meta.binop_inplace_alpha},
        derivatives={
            "self": "handle_r_to_c(self.scalar_type(), grad)",
            "other": "handle_r_to_c(other.scalar_type(), maybe_multiply(grad, alpha.conj()))",
        },
    ),
    NativeFunction(
        func="add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": native.add_out, "Meta": meta.add_out},
    ),
    NativeFunction(
        func="add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.add_Scalar, "Meta": meta.binop_alpha},
        derivatives={"self": "handle_r_to_c(self.scalar_type(), grad)"},
        backward_name="AddBackward1",
        python=False,
    ),
    NativeFunction(
        func="add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
        variants="method",
        dispatch={"CompositeExplicitAutograd": native.add__Scalar, "Meta": meta.binop_inplace_alpha},
        derivatives={"self": "handle_r_to_c(self.scalar_type(), grad)"},
        python=False,
    ),
    NativeFunction(
        func="sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": native.sub_Tensor, "Meta": meta.sub},
        derivatives={
            "self": "handle_r_to_c(self.scalar_type(), grad)",
            "other": "handle_r_to_c(other.scalar_type(), maybe_multiply(-grad, alpha.conj()))",
        },
    ),
    NativeFunction(
        func="sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        variants="method",
        structured=True,
        dispatch={"CPU": native.sub__Tensor, "Meta": meta.binop_inplace_alpha},
        derivatives={
            "self": "handle_r_to_c(self.scalar_type(), grad)",
            "other": "handle_r_to_c(other.scalar_type(), maybe_multiply(-grad, alpha.conj()))",
        },
    ),
    NativeFunction(
        func="sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": native.sub_out, "Meta": meta.sub_out},
    ),
    NativeFunction(
        func="sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.sub_Scalar, "Meta": meta.binop_alpha},
        derivatives={"self": "handle_r_to_c(self.scalar_type(), grad)"},
        backward_name="SubBackward1",
        python=False,
    ),
    NativeFunction(
        func="sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
        variants="method",
        dispatch={"CompositeExplicitAutograd": native.sub__Scalar, "Meta": meta.binop_inplace_alpha},
        derivatives={"self": "handle_r_to_c(self.scalar_type(), grad)"},
        python=False,
    ),
    NativeFunction(
        func="rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        dispatch={"CPU": native.rsub_Tensor, "Meta": meta.rsub},
        derivatives={
            "self": "handle_r_to_c(self.scalar_type(), maybe_multiply(-grad, alpha.conj()))",
            "other": "handle_r_to_c(other.scalar_type(), grad)",
        },
    ),
    NativeFunction(
        func="rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        dispatch={"CompositeExplicitAutograd": native.rsub_Scalar, "Meta": meta.rsub},
        derivatives={"self": "handle_r_to_c(self.scalar_type(), maybe_multiply(-grad, alpha.conj()))"},
        backward_name="RsubBackward1",
    ),
    NativeFunction(
        func="mul.Tensor(Tensor self, Tensor other) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": native.mul_Tensor, "Meta": meta.mul},
        derivatives={
            "self": "mul_tensor_backward(grad, other, self.scalar_type())",
            "other": "mul_tensor_backward(grad, self, other.scalar_type())",
        },
    ),
    NativeFunction(
        func="mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        variants="method",
        structured=True,
        dispatch={"CPU": native.mul__Tensor, "Meta": meta.binop_inplace},
        derivatives={
            "self": "mul_tensor_backward(grad, other, self.scalar_type())",
            "other": "mul_tensor_backward(grad, self, other.scalar_type())",
        },
    ),
    NativeFunction(
        func="mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": native.mul_out, "Meta": meta.mul_out},
    ),
    NativeFunction(
        func="mul.Scalar(Tensor self, Scalar other) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.mul_Scalar, "Meta": meta.mul},
        derivatives={"self": "mul_tensor_backward(grad, other, self.scalar_type())"},
        backward_name="MulBackward1",
        python=False,
    ),
    NativeFunction(
        func="mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
        variants="method",
        dispatch={"CompositeExplicitAutograd": native.mul__Scalar, "Meta": meta.binop_inplace},
        derivatives={"self": "mul_tensor_backward(grad, other, self.scalar_type())"},
        python=False,
    ),
    NativeFunction(
        func="div.Tensor(Tensor self, Tensor other) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": native.div_Tensor, "Meta": meta.div},
        derivatives={
            "self": "div_tensor_self_backward(grad, other, self.scalar_type())",
            "other": "div_tensor_other_backward(grad, self, other)",
        },
    ),
    NativeFunction(
        func="div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        variants="method",
        structured=True,
        dispatch={"CPU": native.div__Tensor, "Meta": meta.div_inplace},
        derivatives={
            "self": "div_tensor_self_backward(grad, other, self.scalar_type())",
            "other": "div_tensor_other_backward(grad, self, other)",
        },
    ),
    NativeFunction(
        func="div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": native.div_out, "Meta": meta.div_out},
    ),
    NativeFunction(
        func="div.Scalar(Tensor self, Scalar other) -> Tensor",
        variants=BOTH,
        dispatch={"CompositeExplicitAutograd": native.div_Scalar, "Meta": meta.div},
        derivatives={"self": "div_tensor_self_backward(grad, other, self.scalar_type())"},
        backward_name="DivBackward1",
        python=False,
    ),
    NativeFunction(
        func="div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
        variants="method",
        dispatch={"CompositeExplicitAutograd": native.div__Scalar, "Meta": meta.div_inplace},
        derivatives={"self": "div_tensor_self_backward(grad, other, self.scalar_type())"},
        python=False,
    ),
    NativeFunction(
        func="neg(Tensor self) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": unary.neg, "Meta": meta.neg},
        derivatives={"self": "grad.neg()"},
    ),
    NativeFunction(
        func="neg_(Tensor(a!) self) -> Tensor(a!)",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": unary.neg_, "Meta": meta.neg_},
        derivatives={"self": "grad.neg()"},
    ),
    NativeFunction(
        func="neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": unary.neg_out, "Meta": meta.neg_out},
    ),
    NativeFunction(
        func="reciprocal(Tensor self) -> Tensor",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": unary.reciprocal, "Meta": meta.reciprocal},
        derivatives={"self": "-grad * (result * result).conj()"},
    ),
    NativeFunction(
        func="reciprocal_(Tensor(a!) self) -> Tensor(a!)",
        variants=BOTH,
        structured=True,
        dispatch={"CPU": unary.reciprocal_, "Meta": meta.reciprocal_},
        derivatives={"self": "-grad * (result * result).conj()"},
    ),
    NativeFunction(
        func="reciprocal.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        structured=True,
        dispatch={"CPU": unary.reciprocal_out, "Meta": meta.reciprocal_out},
    ),
    NativeFunction(
        func="positive(Tensor(a) self) -> Tensor(a)",
        variants=BOTH,
        dispatch={"CompositeImplicitAutograd": unary.positive},
    ),
)
