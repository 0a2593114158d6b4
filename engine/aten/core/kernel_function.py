"""aten/src/ATen/core/boxing/KernelFunction.h: what a cell of a dispatch table holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.doors import Site

__all__ = ["AnnotatedKernel", "KernelFunction"]


class KernelFunction:
    """A kernel and how it wants to be called.

    fn: unboxed ``fn(*args)``, or ``fn(ks, *args)`` when ``takes_ks``; boxed kernels are ``fn(op, ks, stack)`` and leave
        their results on the stack.
    name: the function as PyTorch names it (``at::wrapper_CPU_add_Tensor``).
    site, inner_site: the frames a call of it enters (the wrapper, and the native function it calls).
    is_fallthrough: never called; the dispatcher passes its key over.
    """

    __slots__ = ("boxed", "fn", "inner_site", "is_fallthrough", "name", "site", "takes_ks")

    def __init__(
        self,
        fn: Callable[..., Any] | None,
        name: str = "",
        *,
        takes_ks: bool = False,
        boxed: bool = False,
        site: Site | None = None,
        inner_site: Site | None = None,
    ) -> None:
        self.fn = fn
        self.name = name
        self.takes_ks = takes_ks
        self.boxed = boxed
        self.site = site
        self.inner_site = inner_site
        self.is_fallthrough = fn is None

    @staticmethod
    def make_fallthrough() -> KernelFunction:
        return KernelFunction(None, "fallthrough_kernel")

    def call(self, op: Any, ks: int, args: tuple[Any, ...]) -> Any:
        """Unboxed call: the result, or a tuple of results."""
        fn = self.fn
        assert fn is not None, f"{op.name}: a fallthrough kernel was called"
        if self.boxed:
            stack = list(args)
            fn(op, ks, stack)
            return stack[0] if len(stack) == 1 else tuple(stack) if stack else None
        return fn(ks, *args) if self.takes_ks else fn(*args)

    def call_boxed(self, op: Any, ks: int, stack: list[Any]) -> None:
        """Boxed call: arguments are popped from ``stack`` and results pushed."""
        fn = self.fn
        assert fn is not None, f"{op.name}: a fallthrough kernel was called"
        if self.boxed:
            fn(op, ks, stack)
            return
        count = len(op.schema.all_arguments)
        args = tuple(stack[len(stack) - count :])
        del stack[len(stack) - count :]
        result = fn(ks, *args) if self.takes_ks else fn(*args)
        returns = len(op.schema.returns)
        if returns == 1:
            stack.append(result)
        elif returns > 1:
            stack.extend(result)


class AnnotatedKernel:
    """A registration: the kernel and where it was registered ("registered at FILE:LINE")."""

    __slots__ = ("debug", "kernel")

    def __init__(self, kernel: KernelFunction, debug: str) -> None:
        self.kernel = kernel
        self.debug = debug
