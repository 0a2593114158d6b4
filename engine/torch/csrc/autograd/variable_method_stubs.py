"""aten/src/ATen/native/VariableMethodStubs.cpp: the operators that only ask or tell autograd something.

Python does not dispatch them; C++ and TorchScript programs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd import _backward as backward_of

__all__ = [
    "_backward",
    "_version",
    "is_leaf",
    "output_nr",
    "requires_grad_",
    "retain_grad",
    "retains_grad",
]


@doors.frame("at::native::_backward")
def _backward(
    self: Tensor,
    inputs: Sequence[Tensor],
    gradient: Tensor | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    backward_of(self, inputs, gradient, retain_graph, create_graph)


@doors.frame("at::native::is_leaf")
def is_leaf(self: Tensor) -> bool:
    return impl.is_leaf(self)


@doors.frame("at::native::output_nr")
def output_nr(self: Tensor) -> int:
    return impl.output_nr(self)


@doors.frame("at::native::_version")
def _version(self: Tensor) -> int:
    return impl.version(self)


@doors.frame("at::native::requires_grad_")
def requires_grad_(self: Tensor, requires_grad: bool) -> Any:
    impl.requires_grad_(self, requires_grad)
    return self


@doors.frame("at::native::retain_grad")
def retain_grad(self: Tensor) -> None:
    impl.retain_grad(self)


@doors.frame("at::native::retains_grad")
def retains_grad(self: Tensor) -> bool:
    return impl.retains_grad(self)
