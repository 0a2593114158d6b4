"""The backward engine: order, errors, nesting, threads, and the frames it announces."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from engine import doors, torch
from engine.torch.csrc.autograd.engine import MAX_DEPTH, worker
from engine.torch.csrc.autograd.function import MAX_SEQUENCE_NR, Node
from engine.torch.csrc.autograd.graph_task import NO_DEVICE, current


class Frames(doors.Listener):
    def __init__(self) -> None:
        self.open: list[str] = []
        self.seen: list[tuple[str, ...]] = []
        self.nodes: list[str] = []

    def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
        self.open.append(site.name)
        self.seen.append(tuple(self.open))

    def leave(self, site: doors.Site, result: Any) -> None:
        assert self.open.pop() == site.name

    def fail(self, site: doors.Site, error: BaseException) -> None:
        assert self.open.pop() == site.name

    def node(self, node: Any, outputs: tuple[Any, ...]) -> None:
        self.nodes.append(node.name())
        assert all(t is None or t.grad_fn is not None for t in outputs)


ENGINE = (
    "THPEngine_run_backward",
    "torch::autograd::python::PythonEngine::execute",
    "torch::autograd::Engine::execute",
    "torch::autograd::python::PythonEngine::execute_with_graph_task",
    "torch::autograd::Engine::execute_with_graph_task",
    "torch::autograd::Engine::thread_main",
    "torch::autograd::Engine::evaluate_function",
)


def test_frames() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.mean()
    y.retain_grad()
    frames = Frames()
    undo = doors.attach(frames)
    try:
        (x * 2)[1:].mul_(3)
        y.backward()
    finally:
        undo()
    assert frames.open == []
    assert frames.nodes == [
        "MulBackward0",
        "SliceBackward0",
        "torch::autograd::CopySlices",
        "AsStridedBackward0",
        "MulBackward0",
    ]
    prefix = (
        *ENGINE,
        "torch::autograd::Node::operator()",
        "torch::autograd::generated::MeanBackward0::apply",
        "torch::autograd::generated::MeanBackward0_apply_functional",
        "at::_ops::expand::call",
        "torch::autograd::VariableType::expand",
        "at::_ops::expand::redispatch",
        "torch::ADInplaceOrView::expand",
    )
    assert prefix in frames.seen
    hook = "torch::autograd::CppFunctionSingleTensorPreHook::operator()"
    assert (*ENGINE, "torch::autograd::call_tensor_pre_hooks", hook, "at::_ops::clone::call") in frames.seen
    accumulate = ("apply", "_apply_impl", "::accumulateGrad")
    assert any(
        seen[len(ENGINE) + 1 :][:3]
        == tuple(f"torch::autograd::AccumulateGrad{'::' if part == 'apply' else ''}{part}" for part in accumulate)
        for seen in frames.seen
    )


def test_the_node_made_last_runs_first() -> None:
    order: list[str] = []
    x = torch.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    a.grad_fn.register_prehook(lambda g: order.append("a"))
    b.grad_fn.register_prehook(lambda g: order.append("b"))
    (a + b).sum().backward()
    assert order == ["b", "a"]
    assert a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr() < MAX_SEQUENCE_NR
    assert a.grad_fn.next_functions[0][0]._sequence_nr() == MAX_SEQUENCE_NR


def test_topological_numbers() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = (y * x) * y
    assert [y.grad_fn.topological_nr(), z.grad_fn.topological_nr()] == [1, 3]


def test_an_error_leaves_the_thread_clean() -> None:
    x = torch.ones(2, requires_grad=True)

    def hook(grad: Any) -> None:
        raise ValueError("from the hook")

    y = x * 2
    y.register_hook(hook)
    with pytest.raises(ValueError, match="from the hook"):
        (y + x).sum().backward()
    assert worker.device == NO_DEVICE
    assert worker.local_ready_queue is not None
    assert worker.local_ready_queue.empty()
    assert current.graph_task is None
    assert torch.is_grad_enabled()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_errors_of_the_core_reach_python_as_its_own() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * x
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time") as caught:
        y.sum().backward()
    assert type(caught.value) is RuntimeError


@pytest.mark.parametrize("depth", [1, MAX_DEPTH, 3 * MAX_DEPTH])
def test_backward_in_backward(depth: int) -> None:
    names: set[str] = set()

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, n: int) -> Any:
            ctx.n = n
            return a.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            names.add(threading.current_thread().name)
            if ctx.n:
                with torch.enable_grad():
                    t = torch.ones(1, requires_grad=True)
                    Nested.apply(t, ctx.n - 1).sum().backward()
                assert t.grad.tolist() == [2]
            return g * 2, None

    x = torch.ones(1, requires_grad=True)
    Nested.apply(x, depth).sum().backward()
    assert x.grad.tolist() == [2]
    # too deep for one stack: goes on on another thread
    assert ("pt_autograd" in names) == (depth > MAX_DEPTH)


def test_threads_share_a_leaf() -> None:
    x = torch.zeros(1, requires_grad=True)

    def work() -> None:
        for _ in range(20):
            (x * 1).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [80]


def test_nodes_called_from_python() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    assert isinstance(y.grad_fn, Node)
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    gradients = y.grad_fn(torch.ones(2))
    assert gradients[0].tolist() == [3, 3]
    assert gradients[1] is None
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()


def test_gradients_of_the_wrong_shape() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return torch.ones(5)

    expected = (
        "Function WrongBackward returned an invalid gradient at index 0 - got [5] but expected shape compatible with "
        "[2]"
    )
    with pytest.raises(RuntimeError) as caught:
        Wrong.apply(torch.ones(2, requires_grad=True)).sum().backward()
    assert str(caught.value) == expected
