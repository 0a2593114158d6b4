"""torch/autograd/graph.py: nodes, edges of tensors, and hooks on what is saved for backward.

Differs: save_on_cpu, multi-grad hooks and mutation of saved tensors are left out.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from engine.aten.core.tensor import Tensor
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.python_engine import THPEngine_run_backward
from engine.torch.csrc.autograd.python_hook import RemovableHandle
from engine.torch.csrc.autograd.saved_variable import default_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """A place in the graph: input ``output_nr`` of ``node``'s backward. Stands for a tensor in backward and grad."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    if not impl.requires_grad(tensor):
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = impl.gradient_edge(tensor)
    assert edge.function is not None
    return GradientEdge(edge.function, edge.input_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that a tensor was written where autograd could not see it."""
    from engine.c10.exception import Error, translate

    try:
        for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
            impl.bump_version(t)
    except Error as error:
        raise translate(error) from None


class saved_tensors_hooks:
    """Inside, ``pack_hook(tensor)`` is kept instead of a saved tensor; ``unpack_hook`` gives the tensor back."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        from engine.c10.exception import Error, translate

        try:
            default_hooks.push_hooks(self.pack_hook, self.unpack_hook)
        except Error as error:
            raise translate(error) from None

    def __exit__(self, *args: object) -> None:
        default_hooks.pop_hooks()


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, setting saved-tensor hooks raises ``error_message``."""
    previous = default_hooks.disabled_error_message
    if default_hooks.stack:
        raise RuntimeError(error_message)
    default_hooks.disabled_error_message = error_message
    try:
        yield
    finally:
        default_hooks.disabled_error_message = previous


class _MultiHandle(RemovableHandle):
    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """``fn`` gets the gradients of all ``tensors`` once they are there (``mode="any"``: the first one)."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    if mode == "any":
        ran: dict[int, bool] = {}

        def any_hook(grad: Tensor) -> None:
            task = _task_id()
            with lock:
                if ran.get(task):
                    return
                ran[task] = True
            fn(grad)

        return _MultiHandle(tuple(t.register_hook(any_hook) for t in tensors if impl.requires_grad(t)))

    counts: dict[int, int] = {}
    buffers: dict[int, list[Any]] = {}
    wanted: dict[int, int] = {}

    def inner(index: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            task = _task_id()
            with lock:
                if task not in counts:
                    counts[task] = 0
                    buffers[task] = [None] * len(tensors)
                    wanted[task] = sum(_will_run(t) for t in tensors)
                counts[task] += 1
                buffers[task][index] = grad
                done = counts[task] == wanted[task]
            if done:
                grads = buffers.pop(task)
                del counts[task], wanted[task]
                fn(grads)

        return hook

    return _MultiHandle(tuple(t.register_hook(inner(i)) for i, t in enumerate(tensors) if impl.requires_grad(t)))


def _task_id() -> int:
    from engine.torch.csrc.autograd.graph_task import current_graph_task

    task = current_graph_task()
    assert task is not None, "expected this hook to be called inside a backward call"
    return task.id_


def _will_run(t: Tensor) -> bool:
    from engine.torch.csrc.autograd.graph_task import current_graph_task

    task = current_graph_task()
    if task is None or not impl.requires_grad(t):
        return False
    function = impl.gradient_edge(t).function
    if task.exec_info_:
        info = task.exec_info_.get(function) if function is not None else None
        return info is not None and info.should_execute()
    return function in task.nodes_in_graph_ or function in task.graph_roots_


def _engine_run_backward(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
    return THPEngine_run_backward(tuple(t_outputs), *args, **kwargs)
