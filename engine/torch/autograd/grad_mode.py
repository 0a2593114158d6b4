"""torch/autograd/grad_mode.py: context managers and decorators that switch grad mode and inference mode.

Differs: enforce_grad_layout_policy and the view tracking switches are left out.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Self

from engine.c10.inference_mode import InferenceMode
from engine.c10.local_dispatch_key_set import tls

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def is_grad_enabled() -> bool:
    """Whether operations of this thread record a graph."""
    return tls.grad_mode


def is_inference_mode_enabled() -> bool:
    return tls.inference_mode


def context_decorator(ctx: Callable[[], Any], func: Any) -> Any:
    """``func`` with every call (and every step of a generator) inside a context of its own."""
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have "
            "the context manager applied; additionally, decorating a class as a context-manager will lead to a "
            "performance regression."
        )
    if inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def generator(*args: Any, **kwargs: Any) -> Any:
            steps = func(*args, **kwargs)
            try:
                with ctx():
                    response = steps.send(None)
                while True:
                    try:
                        request = yield response
                    except GeneratorExit:
                        with ctx():
                            steps.close()
                        raise
                    except BaseException as error:
                        with ctx():
                            response = steps.throw(error)
                    else:
                        with ctx():
                            response = steps.send(request)
            except StopIteration as stop:
                return stop.value

        return generator

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with ctx():
            return func(*args, **kwargs)

    return decorated


def _calling(cls: Any) -> Callable[..., Any]:
    @functools.wraps(cls)
    def call(*args: Any, **kwargs: Any) -> Any:
        return cls(*args, **kwargs)

    return call


class _DecoratorContextManager:
    """A context manager that also decorates functions."""

    def __call__(self, func: Any) -> Any:
        if inspect.isclass(func):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            return context_decorator(self.clone, _calling(func))
        return context_decorator(self.clone, func)

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def clone(self) -> Self:
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that may be used as a decorator without parentheses."""

    def __new__(cls, func: Any = None) -> Any:
        if func is None:
            return super().__new__(cls)
        return cls()(func)


class no_grad(_NoParamDecoratorContextManager):
    """Operations inside record nothing; factories' own ``requires_grad`` still counts."""

    prev = False

    def __enter__(self) -> None:
        self.prev = tls.grad_mode
        tls.grad_mode = False

    def __exit__(self, *exc: object) -> None:
        tls.grad_mode = self.prev


class enable_grad(_NoParamDecoratorContextManager):
    """Operations inside record a graph."""

    prev = False

    def __enter__(self) -> None:
        self.prev = tls.grad_mode
        tls.grad_mode = True

    def __exit__(self, *exc: object) -> None:
        tls.grad_mode = self.prev


class set_grad_enabled(_DecoratorContextManager):
    """Sets grad mode at once; as a context manager it puts the old one back."""

    def __init__(self, mode: bool) -> None:
        self.prev = tls.grad_mode
        self.mode = mode
        _set(mode)

    def __call__(self, func: Any) -> Any:
        tls.grad_mode = self.prev
        return super().__call__(func)

    def __enter__(self) -> None:
        tls.grad_mode = self.mode

    def __exit__(self, *exc: object) -> None:
        tls.grad_mode = self.prev

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)


def _set(mode: Any) -> None:
    if not isinstance(mode, bool):
        raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
    tls.grad_mode = mode


class inference_mode(_DecoratorContextManager):
    """Tensors made inside have no autograd keys and no version counter, and can never take part in autograd."""

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._guards: list[InferenceMode] = []

    def __enter__(self) -> None:
        self._guards.append(InferenceMode(self.mode))

    def __exit__(self, *exc: object) -> None:
        self._guards.pop().release()

    def clone(self) -> inference_mode:
        return type(self)(self.mode)  # type: ignore[no-any-return]


class set_multithreading_enabled(_DecoratorContextManager):
    """Kept for programs that set it; backward here never starts a thread per device."""

    def __init__(self, mode: bool) -> None:
        self.prev = tls.multithreading_enabled
        self.mode = mode
        tls.multithreading_enabled = mode

    def __enter__(self) -> None:
        tls.multithreading_enabled = self.mode

    def __exit__(self, *exc: object) -> None:
        tls.multithreading_enabled = self.prev

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)


for _cls in (no_grad, enable_grad, set_grad_enabled, inference_mode, set_multithreading_enabled):
    _cls.__module__ = "torch.autograd.grad_mode"
