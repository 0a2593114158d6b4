"""Node classes and autograd kernels made from rows."""

from __future__ import annotations

from typing import Any

import pytest

from engine import torch
from engine.torchgen.autograd_text import list_arguments, node_text, save_text
from engine.torchgen.gen_variable_type import functional_row, node_class_of
from engine.torchgen.load_derivatives import differentiability_info, op_name
from engine.torchgen.model import NativeFunction
from engine.torchgen.register import register_all, registered_rows

register_all()


def info_of(func: str, **derivatives: str) -> Any:
    row = NativeFunction(func=func, derivatives=derivatives)
    return row, differentiability_info(row, derivatives)


def test_what_is_saved() -> None:
    _, info = info_of(
        "foo.Tensor(Tensor self, Tensor other, int dim) -> Tensor",
        self="grad.sum(dim) * other.conj() / self.sym_size(-1)",
        other="foo_backward(grad, self.sym_sizes(), zeros_like(other), result)",
    )
    assert info.op == "FooBackward0"
    assert info.args_with_derivatives == ("self", "other")
    assert [(s.name, s.kind, s.expr) for s in info.all_saved_inputs] == [
        ("dim", "value", "dim"),
        ("other", "tensor", "other"),
        ("other_info", "value", "zeros_like(other)"),
        ("self_sym_argsize_minus_1", "value", "self.sym_size(-1)"),
        ("self_sym_sizes", "value", "self.sym_sizes()"),
    ]
    assert [s.slot for s in info.all_saved_outputs] == ["result_"]


def test_operands_are_evaluated_right_first() -> None:
    _, info = info_of("foo(Tensor self, Tensor other) -> Tensor", self="-grad * (self / other)")
    assert info.derivatives[0].formula == "op__Mult(op__Div(other, self), op__USub(grad))"


def test_text() -> None:
    row = registered_rows["mul_Tensor"]
    info = differentiability_info(row, row.derivatives or {})
    assert save_text(row, info, list_arguments(row)) == (
        "def save_inputs(grad_fn, self, other):\n"
        "    edges = grad_fn._next_edges\n"
        "    grad_fn.other_ = SavedVariable(other) if edges[0][0] is not None else UNDEFINED\n"
        "    grad_fn.other_scalar_type = other._dtype\n"
        "    grad_fn.self_ = SavedVariable(self) if edges[1][0] is not None else UNDEFINED\n"
        "    grad_fn.self_scalar_type = self._dtype\n"
        "\n"
        "\n"
        "def save_outputs(grad_fn, result):\n"
        "    pass\n"
    )
    assert "grad_inputs[1] = mul_tensor_backward(grad, self, other_scalar_type)" in node_text(row, info)


def test_an_inplace_form_saves_what_was_there() -> None:
    row = registered_rows["mul__Tensor"]
    source = functional_row(row)
    assert source is registered_rows["mul_Tensor"]
    info = differentiability_info(source, source.derivatives or {})
    assert "SavedVariable(at__clone(self))" in save_text(row, info, list_arguments(row))
    assert node_class_of(row) is node_class_of(source)
    x = torch.ones(2, requires_grad=True)
    assert type(x.clone().mul_(x).grad_fn) is type((x * x).grad_fn)


def test_mistakes_in_rows() -> None:
    with pytest.raises(ValueError, match="derivative for 'other', which is not an argument of aten::foo"):
        info_of("foo(Tensor self) -> Tensor", other="grad")
    with pytest.raises(ValueError, match="the derivative of self is not an expression: 'grad \\+'"):
        info_of("foo(Tensor self) -> Tensor", self="grad +")


@pytest.mark.parametrize(
    "row", [pytest.param(r, id=s) for s, r in registered_rows.items() if r.derivatives and not r.article]
)
def test_every_formula_compiles(row: Any) -> None:
    cls = node_class_of(row)
    assert cls.__name__ == op_name(functional_row(row) or row)
    assert cls.cpp_name == f"torch::autograd::generated::{cls.__name__}"
    assert cls.apply.__code__.co_name == f"{cls.cpp_name}::apply"


def test_a_formula_without_an_operator_says_so() -> None:
    x = torch.ones(2, requires_grad=True)
    from engine.c10.exception import Error
    from engine.torchgen.tensor_methods import TensorMethod

    with pytest.raises(Error, match=r"at::Tensor::frobnicate\(Tensor\): no operator of the table takes these"):
        TensorMethod("frobnicate")(x)
