"""tools/autograd/templates/python_variable_methods.cpp, TypeError_to_NotImplemented_: Python's binary operators.

``x + y`` is THPVariable_add; what it cannot take becomes NotImplemented, so that Python asks ``y``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.torch.csrc.utils.python_numbers import THPUtils_checkScalar, tp_name
from engine.torch.csrc.utils.unmodelled import HINT

__all__ = ["operators"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_METHODS = {
    "__add__": "add",
    "__radd__": "add",
    "__iadd__": "add_",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__imul__": "mul_",
    "__sub__": "sub",
    "__isub__": "sub_",
    "__div__": "div",
    "__truediv__": "div",
    "__idiv__": "div_",
    "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_",
    "__mod__": "remainder",
    "__imod__": "remainder_",
    "__matmul__": "matmul",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "__and__": "__and__",
    "__rand__": "__and__",
    "__iand__": "__iand__",
    "__or__": "__or__",
    "__ror__": "__or__",
    "__ior__": "__ior__",
    "__xor__": "__xor__",
    "__rxor__": "__xor__",
    "__ixor__": "__ixor__",
    "__lshift__": "__lshift__",
    "__ilshift__": "__ilshift__",
    "__rshift__": "__rshift__",
    "__irshift__": "__irshift__",
}


def _unmodelled(name: str, method: str) -> Callable[..., Any]:
    def missing(self: Any, other: Any = None) -> Any:
        if not (isinstance(other, Tensor) or THPUtils_checkScalar(other)):
            # the arguments would not have been taken anyway: x == None
            raise TypeError(f"{method}(): argument 'other' must be Tensor, not {tp_name(other)}")
        raise NotImplementedError(f"{name} needs aten::{method}, which is not modelled by the engine; {HINT}")

    return missing


def _operator(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        door = doors.listener
        if door is None:
            try:
                return method(self, *args, **kwargs)
            except TypeError:
                return NotImplemented
        door.enter(site, (self, *args))
        try:
            result = method(self, *args, **kwargs)
        except TypeError:
            result = NotImplemented
        except BaseException as error:
            door.fail(site, error)
            raise
        door.leave(site, result)
        return result

    cpp = "torch::autograd::TypeError_to_NotImplemented_"
    site = doors.site_of(operator, cpp, "python", ("self", "other"))
    doors.rename(operator, cpp)
    operator.__name__ = name
    operator.__qualname__ = f"TensorBase.{name}"
    operator.__module__ = "torch"
    return operator


def operators(methods: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Python's special methods over the generated ones."""
    return {
        name: _operator(name, methods.get(method) or _unmodelled(name, method)) for name, method in _METHODS.items()
    }
