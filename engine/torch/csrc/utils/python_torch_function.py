"""torch/csrc/utils/disable_torch_function.cpp and python_torch_function_mode.h: __torch_function__ overrides.

Objects of any class may take over calls they are passed to, modes take over every call. Differs: no __torch_dispatch__,
no skip_one_hop_torch_function.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from engine.aten.core.tensor import Tensor
from engine.c10 import exception

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "StashTorchFunctionMode",
    "append_overloaded_arg",
    "check_has_torch_function",
    "disabled_torch_function_impl",
    "handle_torch_function",
    "handle_torch_function_no_python_arg_parser",
    "mark_exact",
    "mode_enabled",
    "pop_mode",
    "push_mode",
]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++


class _State(threading.local):
    """Per thread: the stack of modes, and whether overrides are switched off (subclass, all)."""

    def __init__(self) -> None:
        self.modes: list[Any] = []
        self.disabled_subclass = 0
        self.disabled_all = 0


_state = _State()
# how many modes are pushed on any thread; hot code asks this before it looks at the thread's own stack
_modes_anywhere = 0
_BASIC = {type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, slice, type(...), type}
_EXACT: set[type] = {Tensor}


class _DisabledTorchFunctionImpl:
    """torch._C._disabled_torch_function_impl: what a class sets __torch_function__ to, to have none."""

    def __call__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        return "<built-in method _disabled_torch_function_impl>"


disabled_torch_function_impl = _DisabledTorchFunctionImpl()


def mark_exact(cls: type) -> None:
    """THPVariable_CheckTypeExact: ``cls`` counts as torch.Tensor itself, as nn.Parameter does."""
    _EXACT.add(cls)


class DisableTorchFunctionSubclass:
    """Within it the overrides of objects are off; modes still act."""

    def __enter__(self) -> None:
        _state.disabled_subclass += 1

    def __exit__(self, *_: object) -> None:
        _state.disabled_subclass -= 1


class DisableTorchFunction:
    """Within it both the overrides of objects and the modes are off."""

    def __enter__(self) -> None:
        _state.disabled_all += 1

    def __exit__(self, *_: object) -> None:
        _state.disabled_all -= 1


def push_mode(mode: Any) -> None:
    global _modes_anywhere
    _state.modes.append(mode)
    _modes_anywhere += 1


def pop_mode() -> Any:
    global _modes_anywhere
    _modes_anywhere -= 1
    return _state.modes.pop()


def current_modes() -> list[Any]:
    """The modes of this thread, outermost first."""
    return list(_state.modes)


def mode_enabled() -> bool:
    """at::impl::torch_function_mode_enabled."""
    return bool(_modes_anywhere) and bool(_state.modes) and not _state.disabled_all


@contextmanager
def StashTorchFunctionMode() -> Any:
    """Takes the innermost mode off the stack while it handles a call, so that its own calls go past it."""
    mode = pop_mode()
    try:
        yield mode
    finally:
        push_mode(mode)


def torch_function_enabled() -> bool:
    return not (_state.disabled_subclass or _state.disabled_all)


def check_has_torch_function(obj: Any, ignore_mode: bool = False) -> bool:
    """Whether ``obj`` overrides calls (or, unless ``ignore_mode``, a mode does)."""
    if not ignore_mode and _modes_anywhere and mode_enabled():
        return True
    kind = type(obj)
    if kind in _EXACT or kind in _BASIC or not torch_function_enabled():
        return False
    try:
        attr = getattr(obj, "__torch_function__", None)
    except BaseException:  # PyObject_FastGetAttrString: whatever the look-up raises, there is no such attribute
        return False
    return attr is not None and attr is not disabled_torch_function_impl


def append_overloaded_arg(overloaded: list[Any], obj: Any) -> None:
    """Note ``obj`` once per class, a subclass before its superclasses (NEP 18's order)."""
    kind = type(obj)
    if any(type(other) is kind for other in overloaded):
        return
    place = len(overloaded)
    for i, other in enumerate(overloaded):
        if issubclass(kind, type(other)):
            place = i
            break
    overloaded.insert(place, obj)


def handle_torch_function_no_python_arg_parser(
    overloaded: Sequence[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    func_name: str,
    torch_api_function: Any,
    module_name: str,
) -> Any:
    """Ask the innermost mode, then each override, until one does not answer NotImplemented."""
    types = tuple(type(arg) for arg in overloaded)
    result: Any = NotImplemented
    mode = None
    if mode_enabled():
        with StashTorchFunctionMode() as mode:
            method = mode.__torch_function__
            exception.TORCH_CHECK(
                getattr(method, "__self__", None) is mode,
                "Defining your mode's `__torch_function__` as a classmethod is not supported, "
                "please make it a plain method",
            )
            handed = (torch_api_function, types, args)
            result = method(*handed) if kwargs is None else method(*handed, kwargs)
    if result is NotImplemented:
        for arg in overloaded:
            method = arg.__torch_function__
            if getattr(method, "__self__", None) is arg:
                exception.TORCH_WARN_ONCE(
                    "Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
                    "future, please define it as a classmethod."
                )
            handed = (torch_api_function, types, args)
            result = method(*handed) if kwargs is None else method(*handed, kwargs)
            if result is not NotImplemented:
                break
    if result is NotImplemented:
        lines = [f"  - mode object {mode!r}\n"] if mode is not None else []
        lines += [f"  - tensor subclass {type(arg)!r}\n" for arg in overloaded]
        raise TypeError(
            f"Multiple dispatch failed for '{module_name}.{func_name}'; all __torch_function__ handlers returned "
            f"NotImplemented:\n\n{''.join(lines)}\nFor more information, try re-running with TORCH_LOGS=not_implemented"
        )
    return result


def handle_torch_function(
    overloaded: Sequence[Any],
    self_: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    torch_api: Any,
    name: str,
    module_name: str,
) -> Any:
    """Hand a call to its overrides: the function ``name`` of ``torch_api``, ``self_`` before ``args``."""
    function = getattr(torch_api, name)
    if self_ is not None:
        args = (self_, *args)
    return handle_torch_function_no_python_arg_parser(overloaded, args, kwargs or None, name, function, module_name)
