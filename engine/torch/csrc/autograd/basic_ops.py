"""torch/csrc/autograd/functions/basic_ops.h: nodes that raise, that pass on undefined gradients, and the root's."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.c10.exception import TORCH_CHECK
from engine.c10.exception import Error as C10Error
from engine.torch.csrc.autograd.edge import edge_list
from engine.torch.csrc.autograd.function import Node

__all__ = ["DelayedError", "Error", "GraphRoot", "Identity", "NotImplemented", "UndefinedGrad", "UndefinedGradBackward"]


class Error(Node):
    """Raises ``msg_`` in backward."""

    __slots__ = ("msg_",)

    def __init__(self, msg: str, next_edges: edge_list | None = None) -> None:
        super().__init__(next_edges)
        self.msg_ = msg

    def apply(self, grads: list[Any]) -> list[Any]:
        raise C10Error(self.msg_)


class NotImplemented(Error):
    """The grad_fn of what an operator without a derivative made."""

    __slots__ = ()

    def __init__(self, forward_fn: str, next_edges: edge_list | None = None) -> None:
        super().__init__(f"derivative for {forward_fn} is not implemented", next_edges)


class DelayedError(Node):
    """Passes tensors through; raises in backward."""

    __slots__ = ("msg_",)

    def __init__(self, msg: str, num_inputs: int) -> None:
        super().__init__()
        self.msg_ = msg
        for _ in range(num_inputs):
            self.add_input_metadata(None)

    def apply(self, grads: list[Any]) -> list[Any]:
        from engine.torch.csrc.autograd.edge import Edge
        from engine.torch.csrc.autograd.function import collect_next_edges
        from engine.torch.csrc.autograd.variable import set_gradient_edge, tensor_data

        outputs = [None if t is None else tensor_data(t) for t in grads]
        node = Error(self.msg_, collect_next_edges(*grads))
        for t in outputs:
            if t is not None:
                set_gradient_edge(t, Edge(node, node.add_input_metadata(t)))
        return outputs


class UndefinedGradBackward(Node):
    __slots__ = ()

    def apply(self, grads: list[Any]) -> list[Any]:
        return [None]


class UndefinedGrad(Node):
    """Clones what it gets; the gradients that come back are dropped."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.add_input_metadata(None)

    def apply(self, grads: list[Any]) -> list[Any]:
        from engine.aten import at
        from engine.torch.csrc.autograd.edge import Edge
        from engine.torch.csrc.autograd.function import collect_next_edges
        from engine.torch.csrc.autograd.variable import set_gradient_edge, tensor_data

        TORCH_CHECK(len(grads) == 1, f"UndefinedGrad: expected 1 arguments (got {len(grads)})")
        t = grads[0]
        if t is None:
            return [None]
        out = tensor_data(at.clone.call(t, None))
        node = UndefinedGradBackward(collect_next_edges(t))
        set_gradient_edge(out, Edge(node, node.add_input_metadata(out)))
        return [out]


class GraphRoot(Node):
    """Stands before several roots of one backward call; its outputs are the gradients given for them."""

    __slots__ = ("outputs",)

    display_name: ClassVar[str | None] = "torch::autograd::GraphRoot"

    def __init__(self, functions: edge_list, inputs: list[Any]) -> None:
        super().__init__(list(functions))
        self.outputs = inputs

    def apply(self, grads: list[Any]) -> list[Any]:
        return list(self.outputs)


class Identity(Node):
    __slots__ = ()

    def apply(self, grads: list[Any]) -> list[Any]:
        return grads
