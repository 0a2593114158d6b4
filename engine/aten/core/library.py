"""torch/library.h, aten/src/ATen/core/library.cpp: a library of registrations, undone together.

Differs: kernels are Python functions; python arguments follow torch/csrc/utils/python_dispatch.cpp.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from engine import doors
from engine.aten.core.dispatcher import OperatorHandle, singleton
from engine.aten.core.function_schema import FunctionSchema, parse_schema
from engine.aten.core.kernel_function import KernelFunction
from engine.c10.dispatch_key import DispatchKey, isAliasDispatchKey, parseDispatchKey, toString
from engine.c10.exception import TORCH_CHECK, TORCH_WARN_ONCE

__all__ = ["Library"]

_ENGINE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _registered_at() -> str:
    """Where the caller outside the engine stands, as c10 notes it: ``registered at FILE:LINE``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE + os.sep):
        frame = frame.f_back
    return f"registered at {frame.f_code.co_filename}:{frame.f_lineno}"


class Library:
    """``kind`` is DEF, IMPL or FRAGMENT; ``dispatch_key`` the default for ``impl``, "" for none."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        self.ns = ns
        self.kind = kind
        self.debug = _registered_at()
        self.dispatch_key = parseDispatchKey(dispatch_key) if dispatch_key else None
        self._undo: list[Callable[[], None]] = []
        self._defined: dict[str, OperatorHandle] = {}

    def def_(self, schema: str) -> OperatorHandle:
        """Define an operator from its schema, with or without the namespace."""
        where = self.debug.removeprefix("registered at ")
        TORCH_CHECK(
            self.kind in ("DEF", "FRAGMENT"),
            "def(): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s should be placed in "
            f"the (unique) TORCH_LIBRARY block for their namespace.  (Error occurred at {where})",
        )
        qualified = "::" in schema.partition("(")[0]
        parsed: FunctionSchema = parse_schema(schema if qualified else f"{self.ns}::{schema}")
        namespace = parsed.name.name.partition("::")[0]
        TORCH_CHECK(
            namespace == self.ns,
            f"Explicitly provided namespace ({namespace}) in schema string does not match namespace of enclosing "
            f"TORCH_LIBRARY block ({self.ns}).  Move this definition to the (unique) TORCH_LIBRARY block corresponding "
            f"to this namespace (and consider deleting the namespace from your schema string.)",
        )
        handle, undo = singleton.register_def(parsed, self.debug)
        self._undo.append(undo)
        self._defined[handle.name] = handle
        return handle

    def impl(self, name: str, key: DispatchKey, fn: Callable[..., Any] | None, with_keyset: bool = False) -> None:
        """Register ``fn`` (None is a fallthrough) for ``key``; it gets Python arguments as torch.library gives them."""
        full = name if "::" in name else f"{self.ns}::{name}"
        if fn is None:
            kernel = KernelFunction.make_fallthrough()
        else:
            kernel = _python_kernel(fn, with_keyset)
        entry = singleton.entry(full)
        if (old := entry.registered(key)) is not None:
            TORCH_WARN_ONCE(
                "Warning only once for all operators,  other operators may also be overridden.\n"
                "  Overriding a previously registered kernel for the same operator and the same dispatch key\n"
                f"  operator: {entry.schema}\n    {entry.debug}\n  dispatch key: {toString(key)}\n"
                f"  previous kernel: {old.debug}\n       new kernel: {self.debug}",
            )
        self._undo.append(singleton.register_impl(full, key, kernel, self.debug))

    def fallback(self, key: DispatchKey, fn: Callable[..., Any] | None, with_keyset: bool = False) -> None:
        """Register a backend fallback: ``fn(op, *args, **kwargs)``, or a fallthrough."""
        TORCH_CHECK(not isAliasDispatchKey(key), f"fallback(): {key.name} is an alias, a fallback needs a runtime key")
        kernel = KernelFunction.make_fallthrough() if fn is None else _python_fallback(fn, with_keyset)
        self._undo.append(singleton.register_fallback(key, kernel, self.debug))

    def reset(self) -> None:
        """Undo every registration of this library, last first."""
        while self._undo:
            self._undo.pop()()
        self._defined.clear()


def _site(fn: Callable[..., Any]) -> doors.Site:
    code = getattr(inspect.unwrap(fn), "__code__", None)
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__
    if code is None:
        return doors.Site(name, "python kernel")
    params = tuple(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return doors.Site(name, "python kernel", params, code.co_filename, code.co_firstlineno)


def parse_ivalues_to_py_args_kwargs(schema: FunctionSchema, stack: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """torch::jit parseIValuesToPyArgsKwargs: trailing arguments that equal their defaults are left out."""
    arguments = schema.all_arguments
    stack = [list(value) if isinstance(value, tuple) else value for value in stack]
    positional = [a for a in arguments if not a.kwarg_only]
    count = len(positional)
    while count and positional[count - 1].has_default and _same(stack[count - 1], positional[count - 1].default):
        count -= 1
    kwargs = {
        a.name: value
        for a, value in zip(arguments[len(positional) :], stack[len(positional) :], strict=True)
        if not (a.has_default and _same(value, a.default))
    }
    return list(stack[:count]), kwargs


def _same(value: Any, default: Any) -> bool:
    if value is None or default is None:
        return value is default
    if isinstance(value, list) and isinstance(default, tuple):
        return tuple(value) == default
    return type(value) in (bool, int, float, str) and bool(value == default)


def _push(op: Any, stack: list[Any], result: Any) -> None:
    """pushPyOutToStack: a Python kernel's result as the schema declares it."""
    returns = len(op.schema.returns)
    if returns == 0:
        TORCH_CHECK(
            result is None,
            f"Expected PythonKernelHolder for {op.name} to return None but it returned something else instead.",
        )
        return
    from engine.torch._ops import to_ivalue

    if returns == 1:
        stack.append(to_ivalue(result, str(op.schema.returns[0].type)))
        return
    if not isinstance(result, Sequence):
        raise TypeError(f"Object of type '{type(result).__name__}' is not an instance of 'sequence'")
    TORCH_CHECK(
        len(result) == returns,
        f"Expected PythonKernelHolder for {op.name} to return {returns} outputs, but it returned {len(result)}",
    )
    stack.extend(
        to_ivalue(item, str(declared.type)) for item, declared in zip(result, op.schema.returns, strict=True)
    )


def _python_kernel(fn: Callable[..., Any], with_keyset: bool) -> KernelFunction:
    """PythonKernelHolder: a boxed kernel that calls ``fn`` with Python arguments."""

    def boxed(op: Any, ks: int, stack: list[Any]) -> None:
        from engine.c10.dispatch_key_set import DispatchKeySet

        count = len(op.schema.all_arguments)
        args, kwargs = parse_ivalues_to_py_args_kwargs(op.schema, stack[len(stack) - count :])
        del stack[len(stack) - count :]
        if with_keyset:
            args.insert(0, DispatchKeySet.from_raw_repr(ks))
        _push(op, stack, fn(*args, **kwargs))

    site = _site(fn)
    return KernelFunction(boxed, site.name, boxed=True, site=site)


def _python_fallback(fn: Callable[..., Any], with_keyset: bool) -> KernelFunction:
    """PythonKernelHolder of a fallback: ``fn`` gets the operator first."""

    def boxed(op: Any, ks: int, stack: list[Any]) -> None:
        from engine.c10.dispatch_key_set import DispatchKeySet
        from engine.torch._ops import overload_of

        count = len(op.schema.all_arguments)
        args, kwargs = parse_ivalues_to_py_args_kwargs(op.schema, stack[len(stack) - count :])
        del stack[len(stack) - count :]
        first = [DispatchKeySet.from_raw_repr(ks)] if with_keyset else []
        _push(op, stack, fn(*first, overload_of(op), *args, **kwargs))

    site = _site(fn)
    return KernelFunction(boxed, site.name, boxed=True, site=site)
