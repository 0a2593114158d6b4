"""torch/csrc/autograd/python_engine.cpp: the engine as Python starts it: ``_execution_engine.run_backward``."""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK, Error, translate
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd import input_edge
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.engine import Engine
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.graph_task import GraphTask
from engine.torch.csrc.autograd.input_buffer import InputBuffer

__all__ = ["PythonEngine", "THPEngine_run_backward"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++


class PythonEngine(Engine):
    """The base engine below two frames of its own."""

    @doors.frame("torch::autograd::python::PythonEngine::execute", layer="engine")
    def execute(self, *args: Any) -> list[Any]:
        return super().execute(*args)

    @doors.frame("torch::autograd::python::PythonEngine::execute_with_graph_task", layer="engine")
    def execute_with_graph_task(self, graph_task: GraphTask, graph_root: Node, input_buffer: InputBuffer) -> None:
        super().execute_with_graph_task(graph_task, graph_root, input_buffer)


Engine.set_default_engine_stub(PythonEngine())


@doors.frame("THPEngine_run_backward", layer="python")
def THPEngine_run_backward(
    tensors: tuple[Any, ...],
    grad_tensors: tuple[Any, ...],
    keep_graph: bool,
    create_graph: bool,
    inputs: tuple[Any, ...] | None = None,
    allow_unreachable: bool = False,
    accumulate_grad: bool = False,
) -> tuple[Any, ...] | None:
    """Backward from ``tensors`` (or GradientEdges) with the gradients ``grad_tensors``.

    With ``inputs`` and not ``accumulate_grad`` their gradients are returned; an input that is not reached is an error
    unless ``allow_unreachable``.
    """
    try:
        return _run_backward(
            tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad
        )
    except Error as error:
        raise translate(error) from None


def _run_backward(
    tensors: tuple[Any, ...],
    grad_tensors: tuple[Any, ...],
    keep_graph: bool,
    create_graph: bool,
    inputs: tuple[Any, ...] | None,
    allow_unreachable: bool,
    accumulate_grad: bool,
) -> tuple[Any, ...] | None:
    backward_api_called = accumulate_grad
    if not isinstance(tensors, tuple):
        raise TypeError(f"tensors argument is expected to be a tuple, but got {type(tensors).__name__}")
    if not isinstance(grad_tensors, tuple):
        raise TypeError(f"grad_tensors argument is expected to be a tuple, but got {type(grad_tensors).__name__}")
    TORCH_CHECK(
        len(tensors) == len(grad_tensors),
        f"got {len(tensors)} tensors and {len(grad_tensors)} gradients",
    )
    roots: list[Edge] = []
    grads: list[Any] = []
    for i, (t, grad) in enumerate(zip(tensors, grad_tensors, strict=True)):
        if isinstance(t, Tensor):
            edge = impl.gradient_edge(t)
        else:
            edge = Edge(t.node, t.output_nr)
        TORCH_CHECK(
            edge.function is not None, f"element {i} of tensors does not require grad and does not have a grad_fn"
        )
        assert edge.function is not None
        roots.append(edge)
        if isinstance(grad, Tensor):
            grads.append(grad)
        else:
            TORCH_CHECK(grad is None, f"element {i} of gradients tuple is not a Tensor or None")
            TORCH_CHECK(
                not (isinstance(t, Tensor) and impl.requires_grad(t)) and isinstance(t, Tensor),
                f"element {i} of gradients tuple is None, but the corresponding Tensor requires grad",
            )
            grads.append(None)
    output_edges: list[Edge] = []
    for wanted in inputs or ():
        if not isinstance(wanted, Tensor):
            output_edges.append(Edge(wanted.node, wanted.output_nr))
            continue
        output_edges.append(input_edge(wanted, accumulate_grad))
    outputs = Engine.get_default_engine().execute(roots, grads, keep_graph, create_graph, accumulate_grad, output_edges)
    if backward_api_called or not inputs:
        return None
    for i, grad in enumerate(outputs):
        TORCH_CHECK(
            allow_unreachable or grad is not None,
            f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True "
            "if this is the desired behavior.",
        )
    return tuple(outputs)
