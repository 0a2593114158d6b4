"""torch/_tensor.py: the methods of torch.Tensor that PyTorch writes in Python.

Differs: no serialisation, no sparse tensors, no DLPack; ``reinforce`` and other methods that only raise are left out.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

from engine.aten.core.tensor import Tensor, make_tensor
from engine.torch.csrc.autograd import variable
from engine.torch.csrc.autograd.python_hook import PyFunctionTensorPostAccGradHooks, RemovableHandle
from engine.torch.csrc.utils.pytorch_names import TENSOR
from engine.torch.csrc.utils.unmodelled import missing
from engine.torch.overrides import (
    DisableTorchFunctionSubclass,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
)

__all__ = ["attach"]


def _overridable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method that modes and subclasses may take over; they see arguments with defaults as keywords, always."""
    signature = inspect.signature(fn)
    optional = [name for name, p in signature.parameters.items() if p.default is not inspect.Parameter.empty]

    @functools.wraps(fn)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if has_torch_function_unary(self):
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            named = {name: bound.arguments.pop(name) for name in optional}
            return handle_torch_function(wrapped, (self,), *bound.args, **named)
        return fn(self, *args, **kwargs)

    return wrapped


def _wrap_type_error_to_not_implemented(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A binary operator: what it cannot take, the other operand may."""

    @functools.wraps(fn)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            relevant = (self, *args)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, self, *args, **kwargs)
            return fn(self, *args, **kwargs)
        except TypeError:
            return NotImplemented

    return wrapped


def _functions() -> Any:
    import engine.torch

    return engine.torch


@_overridable
def backward(
    self: Tensor, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Compute the gradient of this tensor with respect to the leaves of its graph."""
    from engine.torch import autograd

    autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@_overridable
def register_hook(self: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(grad) -> Tensor or None`` runs whenever a gradient of this tensor is computed."""
    if not variable.requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self._backward_hooks is None:
        self._backward_hooks = OrderedDict()
        fn = variable.grad_fn(self)
        if fn is not None:
            from engine.torch.csrc.autograd.python_hook import PyFunctionTensorPreHook

            fn.add_tensor_pre_hook(PyFunctionTensorPreHook(self._backward_hooks, variable.output_nr(self)))
    return RemovableHandle.adding(self._backward_hooks, hook)


@_overridable
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(param) -> None`` runs after ``param.grad`` was updated."""
    if not variable.requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if variable.grad_fn(self) is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = variable.materialize_autograd_meta(self)
    if meta.post_acc_grad_hooks_ is None:
        meta.post_acc_grad_hooks_ = PyFunctionTensorPostAccGradHooks(OrderedDict())
    return RemovableHandle.adding(meta.post_acc_grad_hooks_.dict, hook)


@_overridable
def __repr__(self: Tensor, *, tensor_contents: Any = None) -> str:
    from engine.torch import _tensor_str

    return _tensor_str._str(self, tensor_contents=tensor_contents)  # type: ignore[no-any-return]


@_overridable
def __len__(self: Tensor) -> int:
    if not self._sizes:
        raise TypeError("len() of a 0-d tensor")
    return self._sizes[0]


def __iter__(self: Tensor) -> Iterator[Any]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@_overridable
def __reversed__(self: Tensor) -> Any:
    return self if self.dim() == 0 else self.flip(0)


def __hash__(self: Tensor) -> int:
    return id(self)


@_overridable
def __dir__(self: Tensor) -> list[str]:
    return sorted({*dir(type(self)), *self.__dict__} - {"volatile"})


@_overridable
def __format__(self: Tensor, format_spec: str) -> str:
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return self.detach().item().__format__(format_spec)  # type: ignore[no-any-return]
    return object.__format__(self, format_spec)


@_overridable
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return array.copy() if copy else array


@_overridable
def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    if array.dtype == bool:
        array = array.astype("uint8")
    return _functions().from_numpy(array)


@_overridable
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, Number)):
        return bool((element == self).any().item())  # type: ignore[attr-defined]
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@_overridable
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Any:
    if not variable.is_leaf(self):
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    storage = copy.copy(self._storage)
    if storage.buffer is not None:
        storage.buffer = storage.buffer.copy()
    geometry = (self._sizes, self._strides, self._offset)
    new = make_tensor(storage, *geometry, self._dtype, self._device, self._ks, self._layout)
    new._names = self._names
    new.__class__ = type(self)
    variable.set_requires_grad(new, variable.requires_grad(self))
    memo[id(self)] = new
    if self.grad is not None:
        new.grad = copy.deepcopy(self.grad, memo)
    new.__dict__ = copy.deepcopy(self.__dict__, memo)
    return new


@_wrap_type_error_to_not_implemented
def __rsub__(self: Tensor, other: Any) -> Any:
    return _functions().rsub(self, other)


@_wrap_type_error_to_not_implemented
def __rdiv__(self: Tensor, other: Any) -> Any:
    return self.reciprocal() * other


@_wrap_type_error_to_not_implemented
def __pow__(self: Tensor, exponent: Any) -> Any:
    return self.pow(exponent)


@_wrap_type_error_to_not_implemented
def __ipow__(self: Tensor, exponent: Any) -> Any:
    return self.pow_(exponent)


@_wrap_type_error_to_not_implemented
def __rpow__(self: Tensor, other: Any) -> Any:
    return _functions().pow(other, self)


@_wrap_type_error_to_not_implemented
def __rmod__(self: Tensor, other: Any) -> Any:
    return _functions().remainder(other, self)


@_wrap_type_error_to_not_implemented
def __floordiv__(self: Tensor, other: Any) -> Any:
    return _functions().floor_divide(self, other)


@_wrap_type_error_to_not_implemented
def __rfloordiv__(self: Tensor, other: Any) -> Any:
    return _functions().floor_divide(other, self)


@_wrap_type_error_to_not_implemented
def __rmatmul__(self: Tensor, other: Any) -> Any:
    return _functions().matmul(other, self)


def __pos__(self: Tensor) -> Any:
    return self.positive()


def __neg__(self: Tensor) -> Any:
    return self.neg()


def __abs__(self: Tensor) -> Any:
    return self.abs()


def __invert__(self: Tensor) -> Any:
    return self.bitwise_not()


def __torch_function__(
    cls: type, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """What a subclass does unless it says otherwise: compute as usual, and give the result its own class."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in _default_nowrap_functions() else _convert(result, cls)


def _default_nowrap_functions() -> set[Any]:
    """Getters whose result stays as it is."""
    return {getattr(Tensor, name).__get__ for name in ("_base", "grad", "_grad")}


def _convert(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(_convert(item, cls) for item in result)
    return result


def __getattr__(self: Tensor, name: str) -> Any:
    """Reached for names that a tensor does not have here, and when a property raises AttributeError itself."""
    found = inspect.getattr_static(type(self), name, None)
    if found is not None:
        return found.__get__(self, type(self))
    if name.startswith("_") or name not in TENSOR:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
    raise AttributeError(missing("torch.Tensor", name))


_PYTHON_METHODS = (
    backward, register_hook, register_post_accumulate_grad_hook, __repr__, __len__, __iter__, __reversed__, __hash__,
    __dir__, __format__, __array__, __array_wrap__, __contains__, __deepcopy__, __rsub__, __rdiv__, __pow__, __ipow__,
    __rpow__, __rmod__, __floordiv__, __rfloordiv__, __rmatmul__, __pos__, __neg__, __abs__, __invert__, __getattr__,
)  # fmt: skip


def attach() -> None:
    """Give torch.Tensor these methods."""
    for method in _PYTHON_METHODS:
        # an error about arguments names the function below the wrapper
        for function in (method, inspect.unwrap(method)):
            function.__qualname__ = f"Tensor.{method.__name__}"
        method.__module__ = "torch"
        setattr(Tensor, method.__name__, method)
    Tensor.__rtruediv__ = Tensor.__rdiv__  # type: ignore[attr-defined]
    Tensor.__torch_function__ = classmethod(__torch_function__)  # type: ignore[attr-defined]
    Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]
