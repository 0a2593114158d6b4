"""torch/csrc/autograd/functions/tensor.h: CopyBackwards and CopySlices, the nodes of copy_ and of writes into views.

``base[1:].mul_(2)`` replaces the history of ``base`` by CopySlices around MulBackward0: in backward the part of the
gradient that belongs to the view goes through the wrapped node, the rest passes by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from engine import doors
from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import contiguous_format
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.graph_task import ExecInfo, current, task_needs
from engine.torch.csrc.autograd.variable import gradient_edge, requires_grad

__all__ = ["CopyBackwards", "CopySlices", "TensorGeometry"]


class TensorGeometry:
    """at::TensorGeometry: sizes, strides and offset of a tensor."""

    __slots__ = ("sizes", "storage_offset", "strides")

    def __init__(self, t: Any) -> None:
        self.sizes = t._sizes
        self.strides = t._strides
        self.storage_offset = t._offset

    def numel(self) -> int:
        n = 1
        for size in self.sizes:
            n *= size
        return n


@doors.frame(
    "torch::autograd::CopyBackwards_apply_functional", layer="node", params=("grads", "needs_input_grad", "src_options")
)
def CopyBackwards_apply_functional(
    grads: list[Any], needs_input_grad: list[bool], src_options: tuple[Any, Any]
) -> list[Any]:
    grad = grads[0]
    outputs: list[Any] = [None, None]
    if grad is None:
        return outputs
    from engine.aten import at

    if needs_input_grad[0]:
        outputs[0] = at.zeros_like.call(grad, None, None, None, None, contiguous_format)
    if needs_input_grad[1]:
        dtype, device = src_options
        if not dtype.is_complex and grad._dtype.is_complex:
            grad = at.real.call(grad)
        outputs[1] = at.to_dtype_layout.call(grad, dtype, None, device, None, False, False, None)
    return outputs


class CopyBackwards(Node):
    """Of copy_: nothing of the gradient reaches what was overwritten, all of it reaches the source."""

    __slots__ = ("src_options",)

    display_name: ClassVar[str | None] = "torch::autograd::CopyBackwards"

    def __init__(self, src_options: tuple[Any, Any] = (None, None)) -> None:
        super().__init__()
        # dtype and device of the source
        self.src_options = src_options

    def apply(self, grads: list[Any]) -> list[Any]:
        TORCH_CHECK(len(grads) == 1, f"CopyBackwards: expected 1 arguments (got {len(grads)})")
        return CopyBackwards_apply_functional(grads, task_needs(self), self.src_options)  # type: ignore[no-any-return]


class CopySlices(Node):
    """Around the node ``fn`` of an in-place operation on a view of ``base``."""

    __slots__ = ("base", "fn", "view", "view_fn")

    display_name: ClassVar[str | None] = "torch::autograd::CopySlices"

    def __init__(self, base: Any, view: Any, view_fn: Callable[[Any], Any] | None, fn: Node) -> None:
        super().__init__()
        self.base = TensorGeometry(base)
        self.view = TensorGeometry(view)
        self.view_fn = view_fn
        self.fn: Node | None = fn
        # the gradient of the base takes the place of the view's; the other inputs keep theirs
        self.add_input_metadata(base)
        self.set_next_edges([gradient_edge(base) if requires_grad(base) else Edge(None, 0), *fn._next_edges[1:]])

    def apply(self, grads: list[Any]) -> list[Any]:
        from engine.aten import at
        from engine.torch.csrc.autograd.saved_variable import ERR_BACKWARD_TWICE

        TORCH_CHECK(len(grads) == 1, f"CopySlices: expected 1 arguments (got {len(grads)})")
        grad = grads[0]
        outputs: list[Any] = [None] * self.num_outputs()
        if grad is None:
            return outputs
        fn = self.fn
        TORCH_CHECK(fn is not None, ERR_BACKWARD_TWICE)
        assert fn is not None
        base, view = self.base, self.view
        result = at.new_empty_strided.call(grad, base.sizes, base.strides, None, None, None, None)
        at.copy_.call(result, grad, False)
        if self.view_fn is not None:
            grad_slice = self.view_fn(result)
        else:
            grad_slice = at.as_strided.call(result, view.sizes, view.strides, view.storage_offset - base.storage_offset)
        task = current.graph_task
        if task is not None and task.exec_info_:
            # the wrapped node is no part of the task's graph: say that all its outputs are wanted
            for function, _ in fn._next_edges:
                if function is not None:
                    task.exec_info_.setdefault(function, ExecInfo()).needed_ = True
        res = fn.call_operator([at.clone.call(grad_slice, contiguous_format)])
        for i, given in enumerate(res):
            if not self.should_compute_output(i):
                continue
            if i == 0:
                if given is None:
                    at.zero_.call(grad_slice)
                else:
                    at.copy_.call(grad_slice, given, False)
                outputs[0] = result
            else:
                outputs[i] = given
        return outputs

    def release_variables(self) -> None:
        self.fn = None

    def will_release_variables(self) -> None:
        if self.fn is not None:
            self.fn.will_release_variables()
