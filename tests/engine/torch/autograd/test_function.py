"""torch.autograd.Function."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from engine import torch
from engine.torch.autograd.function import once_differentiable


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        ctx.save_for_backward(a)
        return a * a * a

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (a,) = ctx.saved_tensors
        return g * a * a * 3


def test_names() -> None:
    y = Cube.apply(torch.ones(2, requires_grad=True))
    assert repr(y) == "tensor([1., 1.], grad_fn=<CubeBackward>)"
    assert type(y.grad_fn) is Cube._backward_cls
    assert type(y.grad_fn).__module__ == "torch.autograd.function"
    assert torch.autograd.gradcheck(Cube.apply, torch.ones(2, dtype=torch.float64, requires_grad=True))


def test_inference_only() -> None:
    with torch.no_grad():
        y = Cube.apply(torch.ones(2, requires_grad=True))
    assert y.grad_fn is None
    assert not Cube.apply(torch.ones(2)).requires_grad


def test_setup_context_and_defaults() -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(a: Any, factor: float = 3.0) -> Any:
            return a * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor, None

    x = torch.ones(2, requires_grad=True)
    Scale.apply(x).sum().backward()
    Scale.apply(x, factor=2.0).sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_attributes_with_names_of_the_node() -> None:
    class Busy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.num_inputs, ctx.num_outputs, ctx.hooks, ctx.next_edge = 1, 2, 3, 4
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            assert (ctx.num_inputs, ctx.num_outputs, ctx.hooks, ctx.next_edge) == (1, 2, 3, 4)
            return g * 2

    x = torch.ones(2, requires_grad=True)
    Busy.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_once_differentiable() -> None:
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    seed = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(Once.apply(x), x, seed, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        g.sum().backward()


def test_not_to_be_instantiated() -> None:
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        cube = Cube()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        cube(torch.ones(1))


def test_the_context_goes_with_the_graph() -> None:
    gc.disable()
    try:
        y = Cube.apply(torch.ones(2, requires_grad=True))
        node = weakref.ref(y.grad_fn)
        y.sum().backward()
        del y
        assert node() is None
    finally:
        gc.enable()
