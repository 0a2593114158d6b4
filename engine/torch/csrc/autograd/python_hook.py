"""torch/csrc/autograd/python_hook.h, torch/utils/hooks.py: hooks written in Python, on tensors and on nodes."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from engine.aten.core.tensor import Tensor

__all__ = [
    "PyFunctionPostHook",
    "PyFunctionPreHook",
    "PyFunctionTensorPostAccGradHooks",
    "PyFunctionTensorPreHook",
    "RemovableHandle",
]

HookTable = OrderedDict[int, Callable[..., Any]]


class RemovableHandle:
    """torch.utils.hooks.RemovableHandle: ``remove()`` takes the hook out of its table."""

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extras = extra_dict if isinstance(extra_dict, list) else [extra_dict] if extra_dict is not None else []
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extras)

    @classmethod
    def adding(cls, hooks_dict: HookTable, hook: Callable[..., Any]) -> RemovableHandle:
        handle = cls(hooks_dict)
        hooks_dict[handle.id] = hook
        return handle

    def remove(self) -> None:
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


RemovableHandle.__module__ = "torch.utils.hooks"


def _hook_name(hook: Any) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


def check_single_result(original: Any, result: Any, hook: Any) -> None:
    """A hook's result must be a tensor like the one it got."""
    if result is None:
        return
    name = _hook_name(hook)
    if original is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if original._dtype is not result._dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {_type(original)} got {_type(result)})")
    if original._device != result._device:
        raise RuntimeError(f"hook '{name}' has changed the type of value")
    if original._sizes != result._sizes:
        raise RuntimeError(f"hook '{name}' has changed the size of value")


def _type(t: Tensor) -> str:
    return f"torch.{t._dtype.name}Tensor"


class PyFunctionTensorPreHook:
    """The hooks that Python registered on one tensor, run on its gradient before the node that consumes it."""

    __slots__ = ("dict", "value_idx")

    def __init__(self, table: HookTable, value_idx: int) -> None:
        self.dict = table
        self.value_idx = value_idx

    def __call__(self, values: list[Any]) -> list[Any]:
        grad = values[self.value_idx]
        if grad is None and not self.dict:
            return values
        for hook in list(self.dict.values()):
            result = hook(grad)
            if result is not None:
                check_single_result(grad, result, hook)
                grad = result
        values = list(values)
        values[self.value_idx] = grad
        return values


class PyFunctionPreHook:
    """``Node.register_prehook``."""

    __slots__ = ("dict",)

    def __init__(self, table: HookTable) -> None:
        self.dict = table

    def __call__(self, values: list[Any]) -> list[Any]:
        for hook in list(self.dict.values()):
            result = hook(tuple(values))
            if result is not None:
                values = _checked(values, result, hook)
        return values


class PyFunctionPostHook:
    """``Node.register_hook``."""

    __slots__ = ("dict",)

    def __init__(self, table: HookTable) -> None:
        self.dict = table

    def __call__(self, outputs: list[Any], inputs: list[Any]) -> list[Any]:
        for hook in list(self.dict.values()):
            result = hook(tuple(outputs), tuple(inputs))
            if result is not None:
                outputs = _checked(outputs, result, hook)
        return outputs


def _checked(originals: list[Any], result: Any, hook: Any) -> list[Any]:
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(originals) != len(result):
        raise RuntimeError(
            f"hook '{_hook_name(hook)}' has returned an incorrect number of values (got {len(result)}, but expected "
            f"{len(originals)})"
        )
    for original, value in zip(originals, result, strict=True):
        check_single_result(original, value, hook)
    return list(result)


class PyFunctionTensorPostAccGradHooks:
    """``Tensor.register_post_accumulate_grad_hook``: run after a leaf's ``grad`` was updated."""

    __slots__ = ("dict",)

    def __init__(self, table: HookTable) -> None:
        self.dict = table

    def __call__(self, t: Any) -> None:
        for hook in list(self.dict.values()):
            check_single_result(t, hook(t), hook)
