"""What hooks may return, what writes in a Function count as, and how nodes of in-place views are called."""

from __future__ import annotations

from typing import Any

import pytest

from engine import torch


def _leaf() -> Any:
    return torch.ones(2, requires_grad=True)


def test_a_hook_of_a_node_returns_a_tuple() -> None:
    for register in ("register_hook", "register_prehook"):
        y = _leaf() * 2
        getattr(y.grad_fn, register)(lambda *grads: torch.ones(2))
        with pytest.raises(TypeError, match="expected tuple, but hook returned 'Tensor'"):
            y.sum().backward()


def test_a_post_accumulate_hook_returns_nothing_else() -> None:
    for result, error, text in (
        (5, TypeError, "expected Variable, but hook returned 'int'"),
        (torch.ones(1), RuntimeError, "has changed the size of value"),
    ):
        x = _leaf()
        x.register_post_accumulate_grad_hook(lambda _, result=result: result)
        with pytest.raises(error, match=text):
            x.sum().backward()


def test_an_unpack_hook_returns_a_tensor() -> None:
    x = _leaf()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
        y.sum().backward()


def test_mark_dirty_counts_as_a_write() -> None:
    class AddOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    z = _leaf() * 1
    v = z[:1]
    AddOne.apply(v)
    assert (z._version, v._version) == (2, 2)


def test_nodes_of_in_place_views_have_names_of_their_own() -> None:
    names = []
    for run in ("t_", "squeeze_"):
        y = torch.ones(2, 2, requires_grad=True) * 1
        getattr(y, run)()
        names.append(y.grad_fn.name())
    assert names == ["TBackward1", "SqueezeBackward3"]


def test_wrong_arguments_name_the_method() -> None:
    with pytest.raises(TypeError, match=r"^Tensor.backward\(\) got an unexpected keyword argument 'foo'$"):
        _leaf().sum().backward(foo=3)
