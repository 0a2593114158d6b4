"""torch/csrc/autograd/cpp_hook.h: hooks that C++ registers on a tensor; the one of retain_grad."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from engine import doors
from engine.torch.csrc.autograd import variable as impl

__all__ = ["CppFunctionSingleTensorPreHook", "RetainGrad"]


class CppFunctionSingleTensorPreHook:
    """Runs a hook on one of a node's inputs."""

    __slots__ = ("hook", "value_idx")

    def __init__(self, hook: Callable[[Any], Any], value_idx: int) -> None:
        self.hook = hook
        self.value_idx = value_idx

    @doors.frame("torch::autograd::CppFunctionSingleTensorPreHook::operator()", layer="engine")
    def __call__(self, values: list[Any]) -> list[Any]:
        result = self.hook(values[self.value_idx])
        if result is None:
            return values
        values = list(values)
        values[self.value_idx] = result
        return values


class RetainGrad:
    """retain_grad's hook: keeps the gradient of a tensor that is no leaf in its ``grad``."""

    __slots__ = ("weak_self",)

    def __init__(self, t: Any) -> None:
        self.weak_self = weakref.ref(t)

    def __call__(self, grad: Any) -> None:
        t = self.weak_self()
        if t is None or grad is None:
            return
        from engine.aten import at
        from engine.c10.memory_format import contiguous_format

        meta = impl.materialize_autograd_meta(t)
        if meta.grad_ is None:
            meta.grad_ = at.clone.call(grad, contiguous_format)
        else:
            meta.grad_ = at.add_Tensor.call(meta.grad_, grad, 1)
