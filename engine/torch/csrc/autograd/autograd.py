"""torch/csrc/autograd/autograd.cpp: backward and grad as C++ programs call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine import doors
from engine.aten.core.ops import at
from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import contiguous_format
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.basic_ops import Identity
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.engine import Engine

__all__ = ["backward", "grad"]


def _make_grads(outputs: Sequence[Any], grad_outputs: Sequence[Any]) -> list[Any]:
    TORCH_CHECK(
        not grad_outputs or len(outputs) == len(grad_outputs),
        f"got {len(outputs)} tensors and {len(grad_outputs)} gradients",
    )
    grads = []
    for output, grad_output in zip(outputs, grad_outputs or [None] * len(outputs), strict=True):
        if grad_output is not None:
            TORCH_CHECK(
                grad_output._dtype.is_complex == output._dtype.is_complex,
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                f"dtype: grad_output has a dtype of {grad_output._dtype.name} and output has a dtype of "
                f"{output._dtype.name}.",
            )
            grads.append(grad_output)
        elif impl.requires_grad(output):
            TORCH_CHECK(output.numel_() == 1, "grad can be implicitly created only for scalar outputs")
            grads.append(at.ones_like.call(output, None, None, None, None, contiguous_format))
    return grads


@doors.frame("torch::autograd::run_backward", layer="engine")
def run_backward(
    outputs: Sequence[Any],
    grad_outputs: list[Any],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Any],
    allow_unused: bool,
    accumulate_grad: bool,
    engine: Engine | None = None,
) -> list[Any]:
    roots = []
    for i, output in enumerate(outputs):
        edge = impl.gradient_edge(output)
        TORCH_CHECK(
            edge.function is not None, f"element {i} of tensors does not require grad and does not have a grad_fn"
        )
        roots.append(edge)
    edges = [input_edge(t, accumulate_grad) for t in inputs]
    engine = engine or Engine.get_default_engine()
    result = engine.execute(roots, grad_outputs, keep_graph, create_graph, accumulate_grad, edges)
    if inputs and not allow_unused:
        for grad_input in result:
            TORCH_CHECK(
                grad_input is not None,
                "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                "if this is the desired behavior.",
            )
    return result


def input_edge(t: Any, accumulate_grad: bool) -> Edge:
    """The edge that stands for a tensor whose gradient is asked for."""
    fn = impl.grad_fn(t)
    if fn is None:
        fn = impl.try_get_grad_accumulator(t)
    if accumulate_grad:
        impl.retain_grad(t)
    TORCH_CHECK(impl.requires_grad(t), "One of the differentiated Tensors does not require grad")
    # a leaf without an accumulator is no input of any node: nothing leads to this Identity
    return Edge(Identity(), 0) if fn is None else Edge(fn, impl.output_nr(t))


@doors.frame("torch::autograd::backward", layer="engine")
def backward(
    tensors: Sequence[Any],
    grad_tensors: Sequence[Any] = (),
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Any] = (),
    engine: Engine | None = None,
) -> None:
    gradients = _make_grads(tensors, grad_tensors)
    keep_graph = create_graph if retain_graph is None else retain_graph
    run_backward(tensors, gradients, keep_graph, create_graph, inputs, True, True, engine)


def grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Any] = (),
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> list[Any]:
    gradients = _make_grads(outputs, grad_outputs)
    keep_graph = create_graph if retain_graph is None else retain_graph
    return run_backward(outputs, gradients, keep_graph, create_graph, inputs, allow_unused, False)


@doors.frame("torch::autograd::VariableHooks::_backward", layer="engine")
def _backward(
    self: Any,
    inputs: Sequence[Any] | None = None,
    gradient: Any = None,
    keep_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """VariableHooks::_backward, behind ``at::Tensor::backward`` of a C++ program."""
    gradients = () if gradient is None else (gradient,)
    backward((self,), gradients, keep_graph, create_graph, inputs or (), Engine.get_base_engine())
