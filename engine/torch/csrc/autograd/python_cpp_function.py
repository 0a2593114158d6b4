"""torch/csrc/autograd/python_cpp_function.cpp: a C++ node called from Python: ``grad_fn(grad)``."""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.c10.exception import Error, translate
from engine.torch.csrc.autograd.function import Node

__all__ = ["THPCppFunction_call"]


@doors.frame("torch::autograd::THPCppFunction_call", layer="python")
def THPCppFunction_call(node: Node, args: tuple[Any, ...]) -> Any:
    if len(args) != node.num_inputs():
        raise TypeError(f"expected {node.num_inputs()} arguments, got {len(args)} instead")
    for i, arg in enumerate(args):
        if arg is not None and not isinstance(arg, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    try:
        outputs = node.call_operator(list(args))
    except Error as error:
        raise translate(error) from None
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
