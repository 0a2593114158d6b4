"""torch/autograd/function.py: torch.autograd.Function, for functions with a backward of their own.

Differs: forward-mode, vmap and nested structures of tensors are left out.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from engine.aten.core.tensor import Tensor
from engine.c10.exception import Error, translate
from engine.torch.autograd.grad_mode import is_grad_enabled, no_grad
from engine.torch.csrc.autograd.python_function import PyNode, THPFunction_apply

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """What forward and backward get as ``ctx``."""

    __slots__ = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, where they are ``ctx.saved_tensors``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Inputs that forward writes in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Outputs without a gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether undefined gradients reach backward as zeros (the default) or as None."""
        self.materialize_grads = value


class BackwardCFunction(PyNode, FunctionCtx):
    """Base of the backward class that every Function gets."""

    _forward_cls: ClassVar[Any]

    def _get_user_fn(self) -> Callable[..., Any]:
        backward, vjp = self._forward_cls.backward, self._forward_cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return vjp if vjp is not Function.vjp else backward  # type: ignore[no-any-return]

    def call_backward(self, grads: list[Any]) -> Any:
        return self._get_user_fn()(self, *grads)

    def apply(self, *args: Any) -> Any:
        """Called by the engine with a list; called by Python, runs the user's backward."""
        if len(args) == 1 and type(args[0]) is list:
            return self.apply_node(args[0])
        return self._get_user_fn()(self, *args)


BackwardCFunction._apply_site = PyNode._apply_site


class FunctionMeta(type):
    """Makes ``FooBackward``, the node class of a Function ``Foo``."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        members = {"_forward_cls": cls, "__module__": "torch.autograd.function", "cpp_name": PyNode.cpp_name}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), members)
        super().__init__(name, bases, attrs)


class Function(metaclass=FunctionMeta):
    """Derive from it, write static ``forward`` and ``backward``, and call ``apply``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = staticmethod(backward.__func__)  # type: ignore[attr-defined]

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        overridden = cls.setup_context is not Function.setup_context
        if overridden:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:
            raise TypeError("apply() takes no keyword arguments")
        return THPFunction_apply(cls, args, overridden)


class InplaceFunction(Function):
    """The old base of in-place functions."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A backward that cannot itself be differentiated; trying to raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not is_grad_enabled():
            return outputs
        if not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):  # type: ignore[attr-defined]
            return outputs
        from engine.torch.csrc.autograd.basic_ops import DelayedError

        many = outputs if isinstance(outputs, tuple) else (outputs,)
        error = DelayedError(
            "trying to differentiate twice a function that was marked with @once_differentiable", len(many)
        )
        fakes = [None if v is None else v.detach().requires_grad_() for v in many]
        try:
            result = error.apply(fakes)
        except Error as failed:
            raise translate(failed) from None
        return tuple(result) if len(result) > 1 else result[0]

    return wrapper


for _cls in (FunctionCtx, BackwardCFunction, Function, InplaceFunction):
    _cls.__module__ = "torch.autograd.function"
